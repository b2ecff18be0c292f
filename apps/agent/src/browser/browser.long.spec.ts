import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { BrowserBench, type PageAnswer } from './testing/browser-bench.js';

/** What waits for seconds, or happens several times, because it fails only sometimes. */
describe('the browser', () => {
  const bench = new BrowserBench(process.env['PATH'] ?? '');
  const { run, open, ref, once, openPopup, evaluate, kill, folder } = bench;
  beforeAll(() => bench.start());
  afterAll(() => bench.close());

  it('a window that closes in the middle of a click gives way to the one behind it', async () => {
    for (const round of [1, 2, 3]) {
      const popup = await openPopup(await open('/talk'));
      const closed = await run('browser.click', { element: ref(popup, 'Close in the middle') });
      expect({ round, title: closed.title }).toEqual({ round, title: 'Talk' });
      expect(closed.notes.join()).toContain('The window in front was closed');
    }
  });

  it('leaves a page that hangs for another one', async () => {
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

  it('opens the asked address when the page before it crashes on the way', async () => {
    for (let times = 0; times < 3; times++) {
      await open('/talk');
      bench.server.prependOnceListener('request', () => {
        kill('renderer');
      });
      expect(await open('/built')).toMatchObject({ title: 'Built', url: `${bench.site}/built` });
      expect(await run('browser.read')).toMatchObject({ title: 'Built' });
    }
  });

  it('has another size until it is changed again, also after a crash', async () => {
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

  it('says that an element does not open a file chooser', async () => {
    writeFileSync(join(folder, 'one.txt'), 'one');
    const menu = ref(await open('/built'), 'Menu');
    await expect(
      run('browser.upload', { element: menu, paths: ['one.txt'] }),
    ).rejects.toMatchObject({ message: expect.stringContaining('does not open a file chooser') });
  });
});
