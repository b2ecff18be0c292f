import { isFact } from '@belay/protocol';
import { describeSystem } from '../describe-system.js';
import { docker } from '../engine.js';
import { prepared } from '../environment.js';
import { idle } from '../idle.js';

const page = `<title>Inside</title><h1>Served in the sandbox</h1>
<button onclick="document.body.append(' pressed')">Press</button>`;
const serve = `/opt/belay/node -e '
require("node:http").createServer((_, answer) => {
  answer.setHeader("content-type", "text/html");
  answer.end(require("node:fs").readFileSync("page.html"));
}).listen(8081, "127.0.0.1", () => console.log("serving"))'`;

describeSystem('the browser of an image without Chromium', (server) => {
  it('runs beside it, and its localhost is the sandbox', async () => {
    const session = await idle(server, { image: prepared('BELAY_TEST_DEBIAN') });
    const call = async (operation: string, input: object) =>
      (await server.client.sessions.call(session.id, operation, input)) as Record<string, string>;
    const found = await call('terminal.run', {
      command: 'command -v chromium chrome google-chrome; :',
    });
    expect(found.text).toBe('');
    await call('files.write', { path: 'page.html', content: page });
    await call('terminal.run', { command: serve, background: true });
    await session.until(() => session.terminal().includes('serving\r\n'), 'the page’s server');

    const opened = await call('browser.open', { url: 'http://localhost:8081/' });
    expect(opened).toMatchObject({ title: 'Inside' });
    expect(opened.text).toContain('Served in the sandbox');
    const button = /\[(e\d+)\]/.exec(opened.text ?? '')?.[1];
    const clicked = await call('browser.click', { element: button });
    expect(clicked.text).toContain('pressed');
    const shot = await call('browser.screenshot', {});
    const picture = await server.client.sessions.blob(session.id, String(shot.image));
    expect(Buffer.from(picture.subarray(0, 2)).toString('hex')).toBe('ffd8');
    // It shares what the sandbox has, and nothing more: no network card either.
    await expect(call('browser.open', { url: `${server.url}/health` })).rejects.toThrow();
    await session.event((event) => isFact(event, 'result') && !event.args.ok);

    await server.client.sessions.remove(session.id);
    const filters = { label: [`belay.data=${server.data}`] };
    expect(await docker.listContainers({ all: true, filters })).toEqual([]);
    session.close();
  });

  it.each(['hardened', 'root'] as const)('saves downloads of a %s sandbox', async (sandbox) => {
    const session = await idle(server, { image: prepared('BELAY_TEST_DEBIAN'), sandbox });
    const call = async (operation: string, input: object) =>
      (await server.client.sessions.call(session.id, operation, input)) as Record<string, unknown>;
    await call('files.write', { path: 'page.html', content: 'kept' });
    const command = serve.replace('text/html', 'application/octet-stream');
    await call('terminal.run', { command, background: true });
    await session.until(() => session.terminal().includes('serving\r\n'), 'the page’s server');
    const { notes } = await call('browser.open', { url: 'http://localhost:8081/kept.bin' });
    expect(notes).toContain('Downloaded downloads/kept.bin (4 bytes).');
    expect(await call('files.read', { path: 'downloads/kept.bin' })).toMatchObject({
      content: 'kept',
    });
    await call('files.remove', { path: 'downloads', recursive: true });
    await server.client.sessions.remove(session.id);
    session.close();
  });
});
