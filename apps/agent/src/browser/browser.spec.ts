import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { staysTrue, until } from '@belay/testing';
import { isEvent, operations, type Event, type NewEvent } from '@belay/protocol';
import type { ScreencastFrame } from './browser-options.js';
import { createBrowser, type Browser } from './browser.js';
import { servePage } from './testing/pages.js';

type Name = keyof Browser['handlers'];
type PageAnswer = { url: string; title: string; text: string; truncated: boolean; notes: string[] };

describe('the browser', () => {
  let folder: string;
  let server: Server;
  let site: string;
  let browser: Browser;
  const events: NewEvent[] = [];
  const blobs = new Map<string, Uint8Array>();
  const frames: ScreencastFrame[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-browser-'));
    server = createServer(servePage);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    site = `http://localhost:${(server.address() as AddressInfo).port}`;
    browser = createBrowser({
      workspace: folder,
      state: folder,
      writer: { append: (event) => void events.push(event) },
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
      answerMs: 12_000,
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
  /** Opens the page’s popup: on a busy machine it comes to the front after the click has answered. */
  const openPopup = async (page: PageAnswer) => {
    let popup = await run('browser.click', { element: ref(page, 'New window') });
    const notes = [...popup.notes];
    await until('the popup', async () => {
      if (popup.title === 'About') return true;
      popup = await run('browser.read');
      notes.push(...popup.notes);
      return false;
    });
    return { ...popup, notes };
  };
  const shown = () =>
    events.filter((event) => isEvent(event as Event, 'browser')).map((event) => event.args);

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
    await expect(run('browser.back', { to: 'forward' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'There is no page to go forward to. Open one by its address.',
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

  it('waits until a text shows or is gone, and reports when it does not', async () => {
    await open('/slow');
    expect((await run('browser.wait', { text: 'Ready now' })).text).toContain('Ready now');
    await run('browser.wait', { text: 'Loading', gone: true });
    await expect(run('browser.wait', { text: 'Never', seconds: 0.5 })).rejects.toMatchObject({
      code: 'timeout',
    });
  });

  it('answers dialogs, follows popups, and reports both and errors', async () => {
    const page = await open('/talk');
    const asked = await run('browser.click', { element: ref(page, 'Ask') });
    expect(asked.notes).toEqual([
      'The page showed a confirm “Sure?”; it was answered with OK.',
      'Console error: it went wrong',
      `Request failed: GET 404 Not Found ${site}/missing`,
    ]);
    expect(asked.text).toContain('sure: true');
    const popup = await openPopup(asked);
    expect(popup.title).toBe('About');
    expect(popup.notes.join()).toContain('A new window opened');
    const closed = await run('browser.click', { element: ref(popup, 'Close me') });
    expect(closed.title).toBe('Talk');
    const { messages } = await run<{ messages: { text: string }[] }>('browser.console');
    expect(messages.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['it went wrong', 'GET 404 Not Found']),
    );
  });

  it('a window that closes in the middle of a click gives way to the one behind it', async () => {
    for (const round of [1, 2, 3]) {
      const popup = await openPopup(await open('/talk'));
      const closed = await run('browser.click', { element: ref(popup, 'Close in the middle') });
      expect({ round, title: closed.title }).toEqual({ round, title: 'Talk' });
      expect(closed.notes.join()).toContain('The window in front was closed');
    }
  });

  it('puts downloads into the workspace', async () => {
    const page = await open('/talk');
    const after = await run('browser.click', { element: ref(page, 'Get the file') });
    expect(after.notes).toContain('Downloaded downloads/report.txt (5 bytes).');
    expect(readFileSync(join(folder, 'downloads/report.txt'), 'utf8')).toBe('12345');
  });

  it('describes why a page does not open', async () => {
    await expect(run('browser.open', { url: 'localhost:1' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/could not be opened/),
    });
    await expect(run('browser.open', { url: 'http://example.test' })).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringContaining('is not allowed from this sandbox'),
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
    const ended = jest.fn();
    void waiting.then(ended, ended);
    await staysTrue('the call waits', 50, () => ended.mock.calls.length === 0);
    controller.abort(new Error('stopped'));
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
    await until('three frames', () => frames.length >= 3);
    expect(frames.at(-1)).toMatchObject({ url: `${site}/moving`, width: 1280 });
    browser.watch(false);
    await open('/');
    const count = frames.length;
    await run('browser.wait', { seconds: 0.3 });
    expect(frames.length).toBe(count);
  });

  /** Of one type of child, or the browser itself. */
  const browserProcesses = (type?: string): number[] =>
    execFileSync('pgrep', ['-af', '--', `user-data-dir=${folder}`], { encoding: 'utf8' })
      .split('\n')
      .filter(
        (line) => line && (type ? line.includes(`--type=${type}`) : !line.includes('--type=')),
      )
      .map((line) => Number.parseInt(line, 10));

  it.each([
    // A read that meets the crash before it is reported takes the page for one that hangs.
    ['a crashed page', 'renderer', /The page (crashed|hung) and was opened again/],
    ['a killed browser', undefined, /The browser died and was started again/],
  ])('returns from %s where it was, and reports it', async (_, kind, note) => {
    await open('/about');
    for (const pid of browserProcesses(kind)) process.kill(pid, 'SIGKILL');
    // The end may be noted only after a read that met it.
    let page = await run('browser.read');
    await until('the note', async () => {
      if (note.test(page.notes.join())) return true;
      page = await run('browser.read').catch(() => page);
      return false;
    });
    expect(page).toMatchObject({ url: `${site}/about`, title: 'About' });
    expect(page.notes.join()).toContain(`${site}/about was opened again`);
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

  describe('with a page that was built here', () => {
    it('shows what comes over the pointer, and drops what is dragged', async () => {
      const page = await open('/built');
      const hovered = await run('browser.hover', { element: ref(page, 'Menu') });
      expect(hovered.text).toContain('over the menu');
      const dropped = await run('browser.drag', {
        from: { element: ref(page, 'Card') },
        to: { element: ref(page, 'Basket') },
      });
      expect(dropped.text).toContain('got the card');
      await open('/built');
      const slid = await run('browser.drag', { from: { x: 30, y: 320 }, to: { x: 200, y: 320 } });
      expect(slid.text).toContain('knob at 200px');
      await expect(
        run('browser.drag', { from: { x: 1 }, to: { x: 2, y: 2 } }),
      ).rejects.toMatchObject({ code: 'invalid_input' });
      // What ends nowhere leaves the pointer up: the next movement drags nothing.
      const knob = await open('/built');
      await expect(
        run('browser.drag', { from: { element: ref(knob, 'Knob') }, to: { element: 'e9999' } }),
      ).rejects.toMatchObject({ code: 'not_found' });
      const moved = await run('browser.hover', { x: 400, y: 400 });
      expect(moved.text).toContain('knob at');
      expect(moved.text).not.toContain('knob at 400px');
      await expect(run('browser.hover', { element: 'e9999' })).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    it('tells console messages and failed requests with the result, within bounds', async () => {
      const page = await run<PageAnswer & { console: string[] }>('browser.open', {
        url: `${site}/built`,
      });
      expect(page.notes).toEqual([`Request failed: GET 404 Not Found ${site}/missing?of=this`]);
      expect(page.console).toEqual([
        '4 more before these; browser.console has them.',
        ...[5, 6, 7, 8, 9].map((n) => `log: message ${n}`),
        'warn: mind this',
      ]);
      expect(await run('browser.read')).toMatchObject({ notes: [], console: [] });
    });

    it('notes a request that nobody answered, and no icon that Chromium asked for', async () => {
      const closed = createServer();
      await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
      const gone = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/gone`;
      await new Promise((resolve) => closed.close(resolve));
      await open('/about');
      const { notes } = await run('browser.evaluate', {
        script: `await fetch('${gone}').catch(() => fetch('/favicon.ico'))`,
      });
      expect(notes).toContain(`Request failed: GET net::ERR_CONNECTION_REFUSED ${gone}`);
      expect(notes.join()).not.toContain('favicon');
      const { messages } = await run<{ messages: object[] }>('browser.console', { limit: 50 });
      expect(messages).toContainEqual({
        level: 'network',
        text: 'GET net::ERR_CONNECTION_REFUSED',
        url: gone,
      });
    });

    const evaluate = async (script: string) =>
      (await run<PageAnswer & { value: string }>('browser.evaluate', { script })).value;

    it.each([
      ['document.title', 'Built'],
      ['const a = 20; a + 22', '42'],
      ['await Promise.resolve({ a: [1, 2n, null] })', '{"a":[1,"2",null]}'],
      ['() => innerWidth', '1280'],
      ['undefined', 'undefined'],
      ['document.querySelector("#menu")', '<button id="menu">Menu</button>'],
      ['const loop = { name: 1 }; loop.self = loop; loop', '{"name":1,"self":"[circular]"}'],
      ['NaN', 'NaN'],
    ])('runs %s in the page', async (script, value) => {
      if (browser.page() !== `${site}/built`) await open('/built');
      expect(await evaluate(script)).toBe(value);
    });

    it('says what a script threw, and survives one that says too much or goes away', async () => {
      await open('/built');
      await expect(evaluate('nothing.at.all')).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/^The script failed: ReferenceError: nothing is not/),
      });
      expect(await evaluate('"x".repeat(5_000_000)')).toHaveLength(20_000);
      expect(await evaluate('JSON.stringify = () => "y".repeat(1e6); ({})')).toHaveLength(20_000);
      await evaluate("location.href = '/about'; 1");
      expect((await run('browser.wait', { text: 'Close me' })).title).toBe('About');
    });

    it('opens the asked address when the page before it crashes on the way', async () => {
      for (let times = 0; times < 3; times++) {
        await open('/talk');
        server.prependOnceListener('request', () => {
          for (const pid of browserProcesses('renderer')) process.kill(pid, 'SIGKILL');
        });
        expect(await open('/built')).toMatchObject({ title: 'Built', url: `${site}/built` });
        expect(await run('browser.read')).toMatchObject({ title: 'Built' });
      }
    });

    it('has another size until it is changed again, also after a crash', async () => {
      await open('/built');
      const small = await run('browser.resize', { width: 400, height: 700 });
      expect(small.text).toContain('now 400');
      const picture = await run<{ width: number; height: number }>('browser.screenshot');
      expect(picture).toMatchObject({ width: 400, height: 700 });
      // A page that is new or was lost has it, too.
      const popup = await openPopup(await open('/talk'));
      expect(popup.title).toBe('About');
      expect(await evaluate('innerWidth')).toBe('400');
      await run('browser.click', { element: ref(popup, 'Close me') });
      for (const pid of browserProcesses('renderer')) process.kill(pid, 'SIGKILL');
      // The end may be noted only after a page was opened in what was about to end.
      const isNoted = ({ notes }: PageAnswer) =>
        /(crashed|hung) and was opened again/.test(notes.join());
      await until('the crash is noted', () => open('/built').then(isNoted, () => false));
      expect(await evaluate('innerWidth')).toBe('400');
      const phone = await run('browser.resize', { width: 390, height: 844, mobile: true });
      expect(phone.title).toBe('Built');
      expect(await evaluate("'ontouchstart' in window")).toBe('true');
      // A phone draws a page that says nothing of its width as if it were wide.
      await open('/about');
      expect(await evaluate('innerWidth')).toBe('980');
      await run('browser.resize', { width: 1280, height: 800 });
      expect(await evaluate('innerWidth')).toBe('1280');
    });

    it('chooses files of the workspace, and nothing outside it', async () => {
      writeFileSync(join(folder, 'one.txt'), 'one');
      writeFileSync(join(folder, 'two.txt'), 'two');
      symlinkSync('/etc/passwd', join(folder, 'link.txt'));
      const element = ref(await open('/built'), 'Choose documents');
      const chosen = await run('browser.upload', { element, paths: ['one.txt', 'two.txt'] });
      expect(chosen.text).toContain('one.txt with one two.txt with two');
      for (const path of ['link.txt', '../outside', '/etc/passwd']) {
        await expect(run('browser.upload', { element, paths: [path] })).rejects.toMatchObject({
          code: expect.stringMatching(/invalid_input|not_found/),
        });
      }
      const menu = ref(await run('browser.read'), 'Menu');
      await expect(
        run('browser.upload', { element: menu, paths: ['one.txt'] }),
      ).rejects.toMatchObject({ message: expect.stringContaining('does not open a file chooser') });
    });
  });

  it('uploads a file of the workspace into a file field', async () => {
    writeFileSync(join(folder, 'up.txt'), 'up');
    const page = await open('/talk');
    const after = await run('browser.type', { element: ref(page, 'Document'), text: 'up.txt' });
    expect(after.text).toContain('chose up.txt');
    const element = ref(after, 'Document');
    await expect(
      run('browser.upload', { element, paths: ['up.txt', 'up.txt'] }),
    ).rejects.toMatchObject({ message: expect.stringContaining('takes one file only') });
    mkdirSync(join(folder, 'documents'));
    await expect(run('browser.upload', { element, paths: ['documents'] })).rejects.toMatchObject({
      message: 'documents is not a file.',
    });
    expect((await run('browser.upload', { element, paths: ['up.txt'] })).text).toContain('chose');
  });
});
