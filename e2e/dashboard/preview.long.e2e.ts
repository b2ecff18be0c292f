import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Frame, Page } from 'puppeteer-core';
import {
  belay,
  choose,
  Chromium,
  click,
  describeSystem,
  type Followed,
  run,
  script,
  shows,
  start,
} from '@belay/testkit';
import { until } from '@belay/testing';

/** A development server with a page that is notified of file changes over a WebSocket. */
const program = `
import { createHash } from 'node:crypto';
import { readFileSync, watch } from 'node:fs';
import { createServer } from 'node:http';
const title = () => readFileSync('title.txt', 'utf8').trim();
const page = () => \`<!doctype html><title>App</title><h1>\${title()}</h1><p id="size"></p><script>
  const hot = new WebSocket(location.origin.replace('http', 'ws') + '/hot', 'hot');
  hot.onopen = () => { document.title = 'connected'; };
  hot.onmessage = ({ data }) => { document.querySelector('h1').textContent = data; };
  onresize = () => { document.querySelector('#size').textContent = innerWidth + ' wide'; };
  onresize();
</script>\`;
const sockets = new Set();
createServer((request, response) => {
  response.setHeader('content-type', 'text/html').setHeader('x-frame-options', 'DENY');
  if (request.url === '/') response.setHeader('set-cookie', 'visited=yes; SameSite=Strict');
  response.end(request.url === '/cookie' ? request.headers.cookie ?? 'none' : page());
}).on('upgrade', ({ headers }, socket) => {
  const key = headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = createHash('sha1').update(key).digest('base64');
  socket.on('error', () => {});
  socket.write(['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade',
    'Sec-WebSocket-Protocol: hot', 'Sec-WebSocket-Accept: ' + accept, '', ''].join('\\r\\n'));
  sockets.add(socket.once('close', () => sockets.delete(socket)));
}).listen(5173, 'localhost');
watch('.', (_, file) => {
  if (file !== 'title.txt') return;
  const text = Buffer.from(title());
  for (const socket of sockets) socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
});
`;

describeSystem('previews', (server) => {
  const chromium = new Chromium();
  let page: Page;
  let session: Followed;
  const panel = 'section[aria-label="Browser"]';

  beforeAll(async () => {
    await chromium.start();
    const write = (path: string, content: string) => ({
      operation: 'files.write',
      input: { path, content },
    });
    const model = script(server.data, [
      { calls: [write('title.txt', 'Before\n'), write('server.mjs', program)] },
      { calls: [run('node server.mjs', { background: true, until: { port: 5173 } })] },
      {
        say: 'It runs on port 5173.',
        calls: [{ operation: 'ask', input: { question: 'Is it right?' } }],
      },
    ]);
    session = await start(server, { task: 'Serve', model, approvals: 'auto' });
    page = await chromium.open(server, `/sessions/${session.id}`);
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });

  const frame = async (): Promise<Frame> => {
    let found: Frame | null | undefined;
    await until('the page is in the frame', async () => {
      // A reload replaces the frame.
      const element = await page.$('iframe[title="Preview of port 5173"]');
      found = await element?.contentFrame().catch(() => null);
      return (await found?.title().catch(() => '')) === 'connected';
    });
    return found as Frame;
  };

  it('shows what the agent serves, live over its WebSocket, in the sizes of devices', async () => {
    await shows(page, 'body', 'It runs on port 5173.');
    await click(page, 'Browser');
    await click(page, 'Preview', panel);
    const shown = await frame();
    const polled = { polling: 100, timeout: 90_000 };
    await shown.waitForFunction(
      () => document.querySelector('h1')?.textContent === 'Before',
      polled,
    );
    const input = { path: 'title.txt', content: 'After\n' };
    await server.client.sessions.call(session.id, 'files.write', input);
    await shown.waitForFunction(
      () => document.querySelector('h1')?.textContent === 'After',
      polled,
    );
    await choose(page, 'select[aria-label="Size"]', 'phone');
    const isNarrow = () => document.querySelector('#size')?.textContent === '390 wide';
    await shown.waitForFunction(isNarrow, polled);
    // Cookies set by the served program are kept, although the frame belongs to another site.
    const cookie = await shown.evaluate(async () => (await fetch('/cookie')).text());
    expect(cookie).toBe('visited=yes');
  });

  it('attacks: the page cannot reach the dashboard, its API or other addresses', async () => {
    const shown = await frame();
    const tried = await shown.evaluate(async (dashboard: string) => {
      const answers = async (address: string) =>
        fetch(address, { credentials: 'include' }).then(
          ({ status }) => status,
          () => 'refused',
        );
      const opened = window.open('about:blank');
      let parent = 'open';
      try {
        void window.parent.document;
      } catch {
        parent = 'closed';
      }
      document.cookie = 'belay_preview=mine; domain=localhost';
      return {
        own: await answers('/api/sessions'),
        api: await answers(`${dashboard}/api/sessions`),
        health: await answers(`${dashboard}/health`),
        opened: opened !== null,
        parent,
        cookies: document.cookie,
      };
    }, server.url);
    expect(tried).toEqual({
      own: 200,
      api: 'refused',
      health: 'refused',
      opened: false,
      parent: 'closed',
      cookies: 'visited=yes',
    });
    await shown.evaluate((dashboard: string) => {
      location.href = `${dashboard}/health`;
    }, server.url);
    // The dashboard’s policy prevents the frame from navigating there.
    await until('it is blocked', async () =>
      page.frames().some((each) => each.url().startsWith('chrome-error:')),
    );
    await click(page, 'Reload', panel);
    await frame();
  });

  it('attacks: other sites can neither frame nor read it', async () => {
    const { origin } = new URL((await frame()).url());
    const site = createServer((_, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end(`<!doctype html><title>Other</title><iframe src="${origin}/"></iframe>`),
    );
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    const foreign = await page.browserContext().newPage();
    await foreign.goto(address);
    await until('the frame is blocked', () =>
      foreign.frames().some((each) => each.url().startsWith('chrome-error:')),
    );
    const read = await foreign.evaluate(async (at: string) => {
      const fetched = await fetch(at, { credentials: 'include' }).catch(() => 'refused');
      const socket = new WebSocket(`${at.replace('http', 'ws')}/hot`, 'hot');
      const connected = await new Promise((resolve) => {
        socket.onopen = () => resolve('open');
        socket.onerror = () => resolve('refused');
      });
      return [fetched, connected];
    }, origin);
    expect(read).toEqual(['refused', 'refused']);
    await foreign.close();
    site.closeAllConnections();
    await new Promise((resolve) => site.close(resolve));
  });

  it('opens once at an address from the command line', async () => {
    const printed = await belay(server.data, ['preview', session.id.slice(0, 12)]);
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    const tab = await page.browserContext().newPage();
    await tab.goto(printed.stdout.trim());
    await shows(tab, 'h1', 'After');
    expect(await tab.evaluate(() => location.pathname)).toBe('/');
    await tab.goto(printed.stdout.trim());
    await shows(tab, 'body', 'This address has already been used');
    await tab.close();
    const wrong = await belay(server.data, ['preview', session.id, '70000']);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('It must be a port from 1 to 65535.');
  });

  it('reports that nothing is served any more', async () => {
    const kill = { command: 'pkill -f server.mjs', terminal: 'other' };
    await server.client.sessions.call(session.id, 'terminal.run', kill);
    await shows(page, panel, 'No server is running');
    expect(chromium.complaints.filter((each) => !each.includes(`left: http://p-`))).toEqual([]);
  });
});
