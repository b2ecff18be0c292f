import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFact, operations, type Event, type NewEvent } from '@belay/protocol';
import type { Frame } from './browser-options.js';
import { createBrowser, type Browser } from './browser.js';
import { pages } from './testing/pages.js';

jest.setTimeout(120_000);

type Name = keyof Browser['handlers'];
type PageAnswer = { url: string; title: string; text: string; truncated: boolean; notes: string[] };

describe('the browser', () => {
  let folder: string;
  let server: Server;
  let site: string;
  let browser: Browser;
  const events: NewEvent[] = [];
  const blobs = new Map<string, Uint8Array>();
  const frames: Frame[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-browser-'));
    server = createServer(pages);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    site = `http://localhost:${(server.address() as AddressInfo).port}`;
    browser = createBrowser({
      workspace: folder,
      state: folder,
      journal: { append: (event) => void events.push(event) },
      putBlob: async (_, bytes) => {
        const blob = createHash('sha256').update(bytes).digest('hex');
        blobs.set(blob, bytes);
        return blob;
      },
      sendFrame: async (frame) => void frames.push(frame),
      sidecar: () => Promise.reject(new Error('There is a Chromium here.')),
      // Nothing answers there: whatever goes out past loopback fails.
      proxy: 'http://127.0.0.1:9',
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    });
  });
  afterAll(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  let calls = 0;
  const run = async <T = PageAnswer>(name: Name, input: object = {}, signal?: AbortSignal) => {
    const parsed = operations[name].input.parse(input);
    const call = {
      id: `c${++calls}`,
      source: 'agent',
      signal: signal ?? AbortSignal.timeout(90_000),
    };
    return (await browser.handlers[name](parsed as never, call as never)) as T;
  };
  const open = (path: string) => run('browser.open', { url: site + path });
  const ref = (page: PageAnswer, label: string) => {
    const found = new RegExp(`\\[(e\\d+)\\] ${label}`).exec(page.text)?.[1];
    if (!found) throw new Error(`No ${label} in: ${page.text}`);
    return found;
  };
  const shown = () =>
    events.filter((event) => isFact(event as Event, 'browser')).map((event) => event.args);

  it('opens a page on the sandbox’s own loopback as readable text, and shows it', async () => {
    const page = await open('/');
    expect(page).toMatchObject({ url: `${site}/`, title: 'Home', truncated: false, notes: [] });
    expect(page.text).toContain('# Welcome');
    expect(page.text).toMatch(/\[e\d+\] About us \(link\)/);
    expect(page.text).toMatch(/\[e\d+\] Your name \(text field\): Ada/);
    expect(page.text).toMatch(/\[e\d+\] Send \(button\)/);
    expect(page.text).toMatch(/\[e\d+\] Colour \(select\): Red of Red \| Green \| Blue/);
    expect(page.text).toMatch(/\[e\d+\] News \(checkbox, checked\)/);
    expect(page.text).toMatch(/in a shadow/);
    expect(page.text).toMatch(/inside the frame/);
    expect(page.text).not.toContain('hidden words');
    expect(page.text).not.toContain('console.log');
    expect(shown().at(-1)).toMatchObject({ url: `${site}/`, title: 'Home' });
    const jpeg = blobs.get(String(shown().at(-1)?.['screenshot']));
    expect(jpeg?.slice(0, 3)).toEqual(new Uint8Array([0xff, 0xd8, 0xff]));
    expect(browser.page()).toBe(`${site}/`);
  });

  it('keeps references while their elements live, and never gives one to another', async () => {
    const first = await open('/');
    const link = ref(first, 'About us');
    expect(ref(await run('browser.read'), 'About us')).toBe(link);
    const about = await run('browser.click', { element: link });
    expect(about).toMatchObject({ url: `${site}/about`, title: 'About' });
    await expect(run('browser.click', { element: link })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(link),
    });
    const back = await run('browser.back');
    expect(back.title).toBe('Home');
    const forward = await run('browser.back', { to: 'forward' });
    expect(forward.title).toBe('About');
  });

  it('fills in a form: types over, selects, checks, sends', async () => {
    const page = await open('/');
    await run('browser.type', { element: ref(page, 'Your name'), text: 'Grace' });
    await run('browser.select', { element: ref(page, 'Colour'), options: ['Blue'] });
    await expect(
      run('browser.select', { element: ref(page, 'Colour'), options: ['Pink'] }),
    ).rejects.toMatchObject({ message: expect.stringContaining('Red, Green, Blue') });
    await run('browser.type', { element: ref(page, 'Day'), text: '2026-02-03' });
    await run('browser.click', { element: ref(page, 'News') });
    const sent = await run('browser.click', { element: ref(page, 'Send') });
    expect(sent.text).toContain('name=Grace');
    expect(sent.text).toContain('colour=b');
    expect(sent.text).toContain('day=2026-02-03');
    expect(sent.text).not.toContain('news');
    const again = await open('/');
    const submitted = await run('browser.type', {
      element: ref(again, 'Your name'),
      text: 'Enter',
      submit: true,
    });
    expect(submitted.text).toContain('name=Enter');
  });

  it('clicks a point, presses keys, scrolls, and reads HTML', async () => {
    await open('/tools');
    expect((await run('browser.click', { x: 30, y: 30 })).text).toContain('clicked the corner');
    expect((await run('browser.type', { text: '', key: 'Escape' })).text).toContain(
      'pressed Escape',
    );
    expect((await run('browser.scroll', { y: 600 })).text).toContain('scrolled to 600');
    const html = await run('browser.read', { format: 'html' });
    expect(html.text).toContain('<div id="corner"');
  });

  it('waits until a text shows or is gone, and says when it does not', async () => {
    await open('/slow');
    expect((await run('browser.wait', { text: 'Ready now' })).text).toContain('Ready now');
    await run('browser.wait', { text: 'Loading', gone: true });
    await expect(run('browser.wait', { text: 'Never', seconds: 0.5 })).rejects.toMatchObject({
      code: 'timeout',
    });
  });

  it('answers dialogs, follows popups, and tells of both and of errors', async () => {
    const page = await open('/talk');
    const asked = await run('browser.click', { element: ref(page, 'Ask') });
    expect(asked.notes).toEqual([
      'The page showed a confirm “Sure?”; it was answered with OK.',
      'Console error: it went wrong',
    ]);
    expect(asked.text).toContain('sure: true');
    const popup = await run('browser.click', { element: ref(asked, 'New window') });
    expect(popup.title).toBe('About');
    expect(popup.notes.join()).toContain('A new window opened');
    const closed = await run('browser.click', { element: ref(popup, 'Close me') });
    expect(closed.title).toBe('Talk');
    const { messages } = await run<{ messages: { text: string }[] }>('browser.console');
    expect(messages.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['it went wrong', 'GET 404 Not Found']),
    );
  });

  it('puts downloads into the workspace', async () => {
    const page = await open('/talk');
    const after = await run('browser.click', { element: ref(page, 'Get the file') });
    expect(after.notes).toContain('Downloaded downloads/report.txt (5 bytes).');
    expect(readFileSync(join(folder, 'downloads/report.txt'), 'utf8')).toBe('12345');
  });

  it('says in words why a page does not open', async () => {
    await expect(run('browser.open', { url: 'localhost:1' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/could not be opened/),
    });
    await expect(run('browser.open', { url: 'http://example.test' })).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringContaining('may not be reached'),
    });
    await expect(run('browser.open', { url: `${site}/never`, timeout: 0.5 })).rejects.toMatchObject(
      { code: 'timeout' },
    );
    await expect(run('browser.open', { url: 'mailto:a@b' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  it('stops waiting when the call is cancelled', async () => {
    const controller = new AbortController();
    const waiting = run('browser.wait', { seconds: 80 }, controller.signal);
    setTimeout(() => controller.abort(new Error('stopped')), 50);
    await expect(waiting).rejects.toThrow('stopped');
    expect((await open('/')).title).toBe('Home');
  });

  it('takes pictures of the view and of the whole page', async () => {
    await open('/tools');
    const view = await run<{ image: string; height: number }>('browser.screenshot');
    const whole = await run<{ image: string; height: number }>('browser.screenshot', {
      fullPage: true,
    });
    expect(blobs.has(view.image)).toBe(true);
    expect(whole.height).toBe(2_000);
  });

  it('sends live frames only while somebody watches', async () => {
    await open('/moving');
    expect(frames).toEqual([]);
    browser.watch(true);
    while (frames.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(frames.at(-1)).toMatchObject({ url: `${site}/moving`, width: 1280 });
    browser.watch(false);
    await open('/');
    const count = frames.length;
    await run('browser.wait', { seconds: 0.3 });
    expect(frames.length).toBe(count);
  });

  it.each([
    ['a crashed page', 'type=renderer.*', 'The page crashed and was opened again'],
    ['a killed browser', '', 'The browser died and was started again'],
  ])('comes back from %s where it was, and says so', async (_, kind, note) => {
    await open('/about');
    const processes = execFileSync('pgrep', ['-f', '--', `${kind}user-data-dir=${folder}`]);
    const pids = processes.toString().trim().split('\n').map(Number);
    if (kind) for (const pid of pids) process.kill(pid, 'SIGKILL');
    else process.kill(Math.min(...pids), 'SIGKILL');
    // The death may be told only after a read that it met.
    let page = await run('browser.read');
    while (!page.notes.join().includes(note)) page = await run('browser.read').catch(() => page);
    expect(page).toMatchObject({ url: `${site}/about`, title: 'About' });
    expect(page.notes.join()).toContain(`${site}/about was opened anew`);
  });

  it('leaves a page that hangs for another one', async () => {
    const page = await open('/stuck');
    const click = run('browser.click', { element: ref(page, 'Hang') });
    await expect(click).rejects.toMatchObject({ code: 'timeout' });
    const next = await run('browser.read');
    expect(next).toMatchObject({ title: 'Stuck', text: expect.stringContaining('before') });
    expect(next.notes.join()).toContain('The page hung and was opened again');
    const endless = run('browser.open', { url: `${site}/endless`, timeout: 3 });
    await expect(endless).rejects.toMatchObject({ code: 'timeout' });
    expect(await open('/about')).toMatchObject({ title: 'About' });
  });

  it('uploads a file of the workspace into a file field', async () => {
    writeFileSync(join(folder, 'up.txt'), 'up');
    const page = await open('/talk');
    const after = await run('browser.type', { element: ref(page, 'Document'), text: 'up.txt' });
    expect(after.text).toContain('chose up.txt');
  });
});
