import type { Page } from 'puppeteer-core';
import { isFact } from '@belay/protocol';
import { Chromium, fill, hides, press, shows, textOf, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start, type Followed } from '../follow.js';
import { run, script } from '../script.js';

const rows = '[aria-label="Sessions"]';
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest('article')?.getAttribute('aria-label'));

/** By the keyboard: a row that moves is not missed. */
async function pick(page: Page, name: string): Promise<void> {
  await page.focus(`[aria-label="Pick ${name}"]`);
  await page.keyboard.press('Space');
  await page.waitForSelector(`[aria-label="Pick ${name}"]:checked`);
}

describeSystem('many sessions in one hand', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  /** Sessions that ask for one call each. */
  const asking = async (...titles: string[]): Promise<Followed[]> => {
    const sessions = [];
    for (const title of titles) {
      const model = script(server.data, [
        { calls: [run(`echo ${title}`)] },
        { calls: [run('sleep 600')] },
      ]);
      sessions.push(await start(server, { task: title, title, model, approvals: 'ask' }));
    }
    for (const session of sessions) await session.state('waiting');
    return sessions;
  };

  it('j and k walk, y allows, x picks, e archives, Enter opens; / searches', async () => {
    const [older, newer] = await asking('older', 'newer');
    const page = await chromium.open(server);
    await shows(page, rows, 'Allow terminal.run echo older?');
    await page.keyboard.press('y');
    await shows(page, 'body', 'Go to a session first');
    await page.keyboard.press('j');
    expect(await focused(page)).toBe('newer');
    await page.keyboard.press('j');
    expect(await focused(page)).toBe('older');
    await page.keyboard.press('k');
    expect(await focused(page)).toBe('newer');
    await page.keyboard.press('y');
    await newer?.event((event) => isFact(event, 'approve'));
    expect(older?.events.some((event) => isFact(event, 'approve'))).toBe(false);
    await page.keyboard.press('x');
    await shows(page, '[role=toolbar]', '1 picked');
    await page.keyboard.press('x');
    await until(page, () => !document.querySelector('[role=toolbar]'));
    await page.keyboard.press('/');
    await page.keyboard.type('old');
    await hides(page, rows, 'newer');
    await press(page, 'Clear all filters');
    await shows(page, rows, 'newer');
    expect(await page.$eval('#fleet-search', (field) => (field as HTMLInputElement).value)).toBe(
      '',
    );
    await page.focus(`[data-session="${older?.id}"]`);
    await page.keyboard.press('e');
    await hides(page, rows, 'older');
    await page.focus(`[data-session="${newer?.id}"]`);
    await page.keyboard.press('Enter');
    await until(page, () => location.pathname.startsWith('/sessions/'));
    expect(page.url()).toContain(newer?.id);
    for (const session of [older, newer]) {
      await server.client.sessions.stop(session?.id ?? '');
      session?.close();
    }
    await page.close();
  });

  it('those that were picked are allowed, stopped and archived together', async () => {
    const sessions = await asking('red', 'green');
    const page = await chromium.open(server, '/?show=waiting');
    await shows(page, rows, 'Allow terminal.run echo red?');
    await page.click('[aria-label="Pick all that are shown"]');
    await shows(page, '[role=toolbar]', '2 picked');
    await press(page, 'Allow 2…');
    await shows(page, '[role=dialog]', 'terminal.run echo green');
    await press(page, 'Allow once', '[role=dialog]');
    for (const session of sessions) await session.event((event) => isFact(event, 'approve'));
    await press(page, 'All', '[aria-label="Which sessions"]');
    // Each asks for its next call by now, so that no row moves any more.
    for (const name of ['red', 'green'])
      await shows(page, `${rows} [aria-label="${name}"]`, 'Allow terminal.run sleep 600?');
    for (const name of ['red', 'green']) await pick(page, name);
    await press(page, 'Stop 2…');
    await press(page, 'Stop', '[role=dialog]');
    for (const session of sessions) await session.state('stopped');
    for (const name of ['red', 'green'])
      await shows(page, `${rows} [aria-label="${name}"]`, 'stopped');
    for (const name of ['red', 'green']) await pick(page, name);
    await press(page, 'Archive 2');
    await hides(page, rows, 'green');
    expect((await server.client.sessions.list()).filter(({ archived }) => archived)).toHaveLength(
      3,
    );
    for (const session of sessions) session.close();
    await page.close();
  });

  it('orders by cost or tag, and keeps a view under a name, which is an address', async () => {
    for (const tag of ['pear', 'apple']) {
      const model = script(server.data, [{ finish: 'Done.' }]);
      const session = await start(server, { task: tag, title: `a ${tag}`, model, tags: [tag] });
      await session.finished();
      session.close();
    }
    const page = await chromium.open(server);
    await page.select('select[aria-label="Order"]', 'tag');
    await shows(page, rows, /apple[^]*a apple[^]*pear[^]*a pear[^]*Without a tag/);
    await page.select('select[aria-label="Tag"]', 'pear');
    await hides(page, rows, 'a apple');
    await shows(page, '[aria-label="Totals"]', '1 session');
    await press(page, 'Save this view…');
    await fill(page, 'Name', 'Pears');
    await press(page, 'Save', '[role=dialog]');
    await page.goto(server.url);
    await shows(page, rows, 'a apple');
    await press(page, 'Pears');
    await hides(page, rows, 'a apple');
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({ tag: 'pear', sort: 'tag' });
    const other = await chromium.open(server, '/?tag=pear&sort=tag');
    await shows(other, rows, 'a pear');
    expect(await textOf(other, rows)).not.toContain('a apple');
    await press(page, 'Forget the view Pears');
    await hides(page, 'main', 'Pears');
    await page.close();
    await other.close();
  });

  it('who may only watch sees the question and no button for it', async () => {
    const [session] = await asking('blue');
    const page = await chromium.open(server, '/', { token: server.viewerToken });
    await shows(page, rows, 'Allow terminal.run echo blue?');
    await until(page, () => !document.querySelector('a[href="/new"]'));
    const buttons = await page.$$eval('main article button, main input[type=checkbox]', (all) =>
      all.map((each) => each.getAttribute('aria-label')),
    );
    expect(buttons.filter((label) => !label?.startsWith('More for'))).toEqual([]);
    await press(page, 'More for blue');
    await shows(page, '[role=menu]', 'Changes as a patch');
    expect(await textOf(page, '[role=menu]')).not.toMatch(/Stop|Archive|Delete/);
    await server.client.sessions.stop(session?.id ?? '');
    session?.close();
    await page.close();
  });

  it('a page that cannot be loaded while the server is away says so, and comes once it is back', async () => {
    const page = await chromium.open(server);
    await shows(page, rows, 'blue');
    await server.end();
    await shows(page, 'header', 'reconnecting, nothing is lost');
    await shows(page, rows, 'blue');
    await press(page, 'Evaluations');
    await shows(page, 'main', 'The server cannot be reached. Nothing is lost');
    await server.start();
    await press(page, 'Try again');
    await shows(page, 'main', 'No benchmark run yet');
    await page.close();
  });
});
