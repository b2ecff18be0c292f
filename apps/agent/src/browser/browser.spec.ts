import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, itLong, sampled, staysTrue, until } from '@belay/testing';
import { isEvent, type Event } from '@belay/protocol';
import { BrowserBench, type PageAnswer } from './testing/browser-bench.js';

describe('the browser', () => {
  const bench = new BrowserBench(process.env['PATH'] ?? '');
  const { run, open, ref, once, openPopup, evaluate, kill, folder, browser, blobs, frames } = bench;
  beforeAll(() => bench.start());
  afterAll(() => bench.close());

  const hasNote = (beginning: string) => (page: PageAnswer) =>
    page.notes.some((note) => note.startsWith(beginning));
  const hasText = (text: string) => (page: PageAnswer) => page.text.includes(text);
  const shown = () =>
    bench.events.filter((event) => isEvent(event as Event, 'browser')).map((event) => event.args);

  it('opens a page on the sandbox’s own loopback as readable text, and shows it', async () => {
    const page = await open('/');
    expect(page).toMatchObject({
      url: `${bench.site}/`,
      title: 'Home',
      truncated: false,
      notes: [],
    });
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
    expect(shown().at(-1)).toMatchObject({ url: `${bench.site}/`, title: 'Home' });
    const jpeg = blobs.get(String(shown().at(-1)?.['screenshot']));
    expect(jpeg?.slice(0, 3)).toEqual(new Uint8Array([0xff, 0xd8, 0xff]));
    expect(browser.page()).toBe(`${bench.site}/`);
  });

  it('keeps references while their elements live, and never gives one to another', async () => {
    const first = await open('/');
    const link = ref(first, 'About us');
    expect(ref(await run('browser.read'), 'About us')).toBe(link);
    const about = await run('browser.click', { element: link });
    expect(about).toMatchObject({ url: `${bench.site}/about`, title: 'About' });
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

  it('waits for the page that a click asked for, and not for one that does not come', async () => {
    const page = await open('/patient');
    const none = await run('browser.click', { element: ref(page, 'No page') });
    expect(none).toMatchObject({ title: 'Patient', notes: [] });
    const late = await run('browser.click', { element: ref(page, 'Late page') });
    expect(late).toMatchObject({ title: 'Late', text: '# Here at last' });
  });

  itLong(
    'waits for a page that a script asks for later, and tells that one did not answer',
    async () => {
      const first = await open('/patient');
      const asked = await run('browser.click', { element: ref(first, 'Ask late') });
      expect(asked).toMatchObject({ title: 'Late', text: '# Here at last' });
      const page = await open('/patient');
      const never = await run('browser.click', { element: ref(page, 'Never') });
      expect(never).toMatchObject({
        title: 'Patient',
        notes: [`${bench.site}/never did not answer within 4 s; the page before it is still open.`],
      });
      const late = await run('browser.click', { element: ref(page, 'Late page') });
      expect(late).toMatchObject({ title: 'Late' });
    },
  );

  itLong('clicks a point, presses keys, scrolls, and reads HTML', async () => {
    await open('/tools');
    expect((await run('browser.click', { x: 30, y: 30 })).text).toContain('clicked the corner');
    expect((await run('browser.type', { text: '', key: 'Escape' })).text).toContain(
      'pressed Escape',
    );
    await once(
      'its scrolling',
      await run('browser.scroll', { y: 600 }),
      hasText('scrolled to 600'),
    );
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
    const clicked = await run('browser.click', { element: ref(page, 'Ask') });
    expect(clicked.text).toContain('sure: true');
    const asked = await once('its request', clicked, hasNote('Request failed'));
    expect(asked.notes).toEqual([
      'The page showed a confirm “Sure?”; it was answered with OK.',
      'Console error: it went wrong',
      `Request failed: GET 404 Not Found ${bench.site}/missing`,
    ]);
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

  it('puts downloads into the workspace', async () => {
    const page = await open('/talk');
    const clicked = await run('browser.click', { element: ref(page, 'Get the file') });
    const after = await once('the download', clicked, hasNote('Downloaded'));
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
    await expect(
      run('browser.open', { url: `${bench.site}/never`, timeout: 0.5 }),
    ).rejects.toMatchObject({ code: 'timeout' });
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

  itLong('sends live frames only while somebody watches', async () => {
    await open('/moving');
    expect(frames).toEqual([]);
    browser.watch(true);
    await until('three frames', () => frames.length >= 3);
    expect(frames.at(-1)).toMatchObject({ url: `${bench.site}/moving`, width: 1280 });
    browser.watch(false);
    await open('/');
    const count = frames.length;
    await run('browser.wait', { seconds: 0.3 });
    expect(frames.length).toBe(count);
  });

  const ends = [
    // A read that meets the crash before it is reported takes the page for one that hangs.
    ['a crashed page', 'renderer', /The page (crashed|hung) and was opened again/],
    ['a killed browser', undefined, /The browser died and was started again/],
  ] as const;
  it.each(sampled(1, ends))(
    'returns from %s where it was, and reports it',
    async (_, kind, note) => {
      await open('/about');
      kill(kind);
      // The end may be noted only after a read that met it.
      let page = await run('browser.read');
      await until('the note', async () => {
        if (note.test(page.notes.join())) return true;
        page = await run('browser.read').catch(() => page);
        return false;
      });
      expect(page).toMatchObject({ url: `${bench.site}/about`, title: 'About' });
      expect(page.notes.join()).toContain(`${bench.site}/about was opened again`);
    },
  );

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
    });

    itLong('drags from point to point, and leaves the pointer up where that fails', async () => {
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

    itLong(
      'tells console messages and failed requests with the result, within bounds',
      async () => {
        const page = await run<PageAnswer & { console: string[] }>('browser.open', {
          url: `${bench.site}/built`,
        });
        const { notes } = await once('its request', page, hasNote('Request failed'));
        expect(notes).toEqual([`Request failed: GET 404 Not Found ${bench.site}/missing?of=this`]);
        expect(page.console).toEqual([
          '4 more before these; browser.console has them.',
          ...[5, 6, 7, 8, 9].map((n) => `log: message ${n}`),
          'warn: mind this',
        ]);
        expect(await run('browser.read')).toMatchObject({ notes: [], console: [] });
      },
    );

    itLong(
      'notes a request that nobody answered, and no icon that Chromium asked for',
      async () => {
        const gone = `http://127.0.0.1:${await freePort()}/gone`;
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
      },
    );

    const scripts = [
      ['document.title', 'Built'],
      ['const a = 20; a + 22', '42'],
      ['await Promise.resolve({ a: [1, 2n, null] })', '{"a":[1,"2",null]}'],
      ['() => innerWidth', '1280'],
      ['undefined', 'undefined'],
      ['document.querySelector("#menu")', '<button id="menu">Menu</button>'],
      ['const loop = { name: 1 }; loop.self = loop; loop', '{"name":1,"self":"[circular]"}'],
      ['NaN', 'NaN'],
    ] as const;
    it.each(sampled(3, scripts))('runs %s in the page', async (script, value) => {
      if (browser.page() !== `${bench.site}/built`) await open('/built');
      expect(await evaluate(script)).toBe(value);
    });

    itLong(
      'says what a script threw, and survives one that says too much or goes away',
      async () => {
        await open('/built');
        await expect(evaluate('nothing.at.all')).rejects.toMatchObject({
          code: 'invalid_input',
          message: expect.stringMatching(/^The script failed: ReferenceError: nothing is not/),
        });
        expect(await evaluate('"x".repeat(5_000_000)')).toHaveLength(20_000);
        expect(await evaluate('JSON.stringify = () => "y".repeat(1e6); ({})')).toHaveLength(20_000);
        await evaluate("location.href = '/about'; 1");
        expect((await run('browser.wait', { text: 'Close me' })).title).toBe('About');
      },
    );

    it('chooses files of the workspace, and nothing outside it', async () => {
      writeFileSync(join(folder, 'one.txt'), 'one');
      writeFileSync(join(folder, 'two.txt'), 'two');
      symlinkSync('/etc/passwd', join(folder, 'link.txt'));
      const element = ref(await open('/built'), 'Choose documents');
      const chosen = await run('browser.upload', { element, paths: ['one.txt', 'two.txt'] });
      await once('their content', chosen, hasText('one.txt with one two.txt with two'));
      for (const path of ['link.txt', '../outside', '/etc/passwd']) {
        await expect(run('browser.upload', { element, paths: [path] })).rejects.toMatchObject({
          code: expect.stringMatching(/invalid_input|not_found/),
        });
      }
    });
  });

  itLong('uploads a file of the workspace into a file field', async () => {
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

  // What waits for seconds, or happens several times, because it fails only sometimes.
  itLong(
    'a window that closes in the middle of a click gives way to the one behind it',
    async () => {
      for (const round of [1, 2, 3]) {
        const popup = await openPopup(await open('/talk'));
        const closed = await run('browser.click', { element: ref(popup, 'Close in the middle') });
        expect({ round, title: closed.title }).toEqual({ round, title: 'Talk' });
        expect(closed.notes.join()).toContain('The window in front was closed');
      }
    },
  );

  itLong('leaves a page that hangs for another one', async () => {
    const page = await open('/stuck');
    const click = run('browser.click', { element: ref(page, 'Hang') });
    await expect(click).rejects.toMatchObject({ code: 'timeout' });
    const next = await run('browser.read');
    expect(next).toMatchObject({ title: 'Stuck', text: expect.stringContaining('before') });
    expect(next.notes.join()).toContain('The page hung and was opened again');
    const endless = run('browser.open', { url: `${bench.site}/endless`, timeout: 3 });
    await expect(endless).rejects.toMatchObject({ code: 'timeout' });
    expect(await open('/about')).toMatchObject({ title: 'About' });
  });

  itLong('opens the asked address when the page before it crashes on the way', async () => {
    for (let times = 0; times < 3; times++) {
      await open('/talk');
      bench.server.prependOnceListener('request', () => {
        kill('renderer');
      });
      expect(await open('/built')).toMatchObject({ title: 'Built', url: `${bench.site}/built` });
      expect(await run('browser.read')).toMatchObject({ title: 'Built' });
    }
  });

  itLong('has another size until it is changed again, also after a crash', async () => {
    await open('/built');
    const small = await run('browser.resize', { width: 400, height: 700 });
    await once('its new size', small, ({ text }) => text.includes('now 400'));
    const picture = await run<{ width: number; height: number }>('browser.screenshot');
    expect(picture).toMatchObject({ width: 400, height: 700 });
    // A page that is new or was lost has it, too.
    const popup = await openPopup(await open('/talk'));
    expect(popup.title).toBe('About');
    expect(await evaluate('innerWidth')).toBe('400');
    await run('browser.click', { element: ref(popup, 'Close me') });
    kill('renderer');
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

  itLong('says that an element does not open a file chooser', async () => {
    writeFileSync(join(folder, 'one.txt'), 'one');
    const menu = ref(await open('/built'), 'Menu');
    await expect(
      run('browser.upload', { element: menu, paths: ['one.txt'] }),
    ).rejects.toMatchObject({ message: expect.stringContaining('does not open a file chooser') });
  });
});
