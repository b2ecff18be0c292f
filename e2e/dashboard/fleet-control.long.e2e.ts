import type { Page } from 'puppeteer-core';
import { isEvent } from '@belay/protocol';
import { eventually } from '@belay/testing';
import {
  choose,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  focusOn,
  type Followed,
  hides,
  run,
  script,
  shows,
  start,
  textOf,
  untilInPage,
  hasFocus,
} from '@belay/testkit';

const rows = '[aria-label="Sessions"]';
/** Waits until the row of a session is focused. */
const focuses = (page: Page, name: string): Promise<unknown> =>
  hasFocus(page, `article[aria-label="${name}"]`);
const noneSelected = (page: Page): Promise<void> =>
  untilInPage(page, () => !document.querySelector('[role=toolbar]'));

/** Uses the keyboard because a click may miss a row that moves. */
async function pick(page: Page, name: string): Promise<void> {
  await focusOn(page, `[aria-label="Select ${name}"]`);
  await page.keyboard.press('Space');
  const isPicked = (label: string) =>
    document.querySelector(`[aria-label="${label}"]`)?.matches(':checked');
  await page.waitForFunction(isPicked, { polling: 100 }, `Select ${name}`);
}

describeSystem('control of many sessions', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  /** Starts sessions that each ask for approval of one call. */
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
  const stop = async (session: Followed | undefined): Promise<void> => {
    await server.client.sessions.stop(session?.id ?? '');
    await session?.state('stopped');
    session?.close();
  };

  it('j and k move, y allows, x selects, e archives, Enter opens, / searches', async () => {
    const [older] = await asking('older');
    const [newer] = await asking('newer');
    const page = await chromium.open(server);
    await shows(page, rows, 'Run this command? echo older');
    await shows(page, rows, 'Run this command? echo newer');
    await page.keyboard.press('y');
    await shows(page, 'body', 'Focus a session first');
    // The session that has waited longest comes first.
    await page.keyboard.press('j');
    await focuses(page, 'older');
    await page.keyboard.press('j');
    await focuses(page, 'newer');
    await page.keyboard.press('k');
    await focuses(page, 'older');
    await page.keyboard.press('j');
    await focuses(page, 'newer');
    await page.waitForSelector('[aria-label="newer"] button[aria-disabled="false"]');
    await page.keyboard.press('y');
    await newer?.event((event) => isEvent(event, 'approve'));
    expect(older?.events.some((event) => isEvent(event, 'approve'))).toBe(false);
    // The row stays in its place.
    await shows(page, `${rows} [aria-label="newer"]`, 'Run this command? sleep 600');
    await focuses(page, 'newer');
    await page.keyboard.press('x');
    await shows(page, '[role=toolbar]', '1 selected');
    await page.keyboard.press('x');
    await noneSelected(page);
    await page.keyboard.press('/');
    await hasFocus(page, '#fleet-search');
    await page.keyboard.type('old');
    await hides(page, rows, 'newer');
    await click(page, 'Clear all filters');
    await shows(page, rows, 'newer');
    await untilInPage(
      page,
      () => document.querySelector<HTMLInputElement>('#fleet-search')?.value === '',
    );
    await focusOn(page, `[data-session="${older?.id}"]`);
    await page.keyboard.press('e');
    await hides(page, rows, 'older');
    await focusOn(page, `[data-session="${newer?.id}"]`);
    await page.keyboard.press('Enter');
    await untilInPage(page, () => location.pathname.startsWith('/sessions/'));
    expect(await page.evaluate(() => location.pathname)).toContain(newer?.id);
    for (const session of [older, newer]) await stop(session);
  });

  it('a click anywhere on a row except its menu opens the session', async () => {
    const [session] = await asking('wide');
    const page = await chromium.open(server);
    await shows(page, rows, 'Run this command? echo wide');
    await click(page, 'More for wide');
    await click(page, 'Tags…');
    await shows(page, '[role=dialog]', 'Tags');
    await page.keyboard.press('Escape');
    await hides(page, 'body', 'Save');
    expect(new URL(page.url()).pathname).toBe('/');
    await clickOn(page, '[aria-label="wide"] [title^="Started"]');
    await untilInPage(page, () => location.pathname.startsWith('/sessions/'));
    await stop(session);
  });

  it('selected sessions are allowed, stopped and archived together', async () => {
    const sessions = await asking('red', 'green');
    const page = await chromium.open(server, '/?show=waiting');
    for (const name of ['red', 'green']) await shows(page, rows, `Run this command? echo ${name}`);
    await clickOn(page, '[aria-label="Select all shown"]');
    await shows(page, '[role=toolbar]', '2 selected');
    await click(page, 'Allow 2…');
    await shows(page, '[role=dialog]', 'terminal.run echo green');
    await click(page, 'Allow once', '[role=dialog]');
    for (const session of sessions) await session.event((event) => isEvent(event, 'approve'));
    await noneSelected(page);
    await click(page, 'All', '[aria-label="Which sessions"]');
    // By now each session waits for approval of its next call, so the order of the rows is final.
    for (const name of ['red', 'green'])
      await shows(page, `${rows} [aria-label="${name}"]`, 'Run this command? sleep 600');
    for (const name of ['red', 'green']) await pick(page, name);
    await click(page, 'Stop 2…');
    await click(page, 'Stop', '[role=dialog]');
    for (const session of sessions) await session.state('stopped');
    for (const name of ['red', 'green'])
      await shows(page, `${rows} [aria-label="${name}"]`, 'stopped');
    await noneSelected(page);
    for (const name of ['red', 'green']) await pick(page, name);
    await click(page, 'Archive 2');
    await hides(page, rows, 'green');
    await eventually(async () => {
      const sessions = await server.client.sessions.list();
      expect(sessions.filter(({ archived }) => archived)).toHaveLength(3);
    });
    for (const session of sessions) session.close();
  });

  it('sorts by cost or tag, and saves a view by name with a URL of its own', async () => {
    for (const tag of ['pear', 'apple']) {
      const model = script(server.data, [{ finish: 'Done.' }]);
      const session = await start(server, { task: tag, title: `a ${tag}`, model, tags: [tag] });
      await session.finished();
      session.close();
    }
    const page = await chromium.open(server);
    await choose(page, 'select[aria-label="Sort"]', 'tag');
    await shows(page, rows, /apple[^]*a apple[^]*pear[^]*a pear[^]*Untagged/);
    await choose(page, 'select[aria-label="Tag"]', 'pear');
    await hides(page, rows, 'a apple');
    await shows(page, '[aria-label="Totals"]', '1 session');
    await click(page, 'Save this view…');
    await fill(page, 'Name', 'Pears');
    await click(page, 'Save', '[role=dialog]');
    await shows(page, '[aria-label="Saved views"]', 'Pears');
    await page.goto(server.url);
    await shows(page, rows, 'a apple');
    await click(page, 'Pears');
    await hides(page, rows, 'a apple');
    const { searchParams } = new URL(await page.evaluate(() => location.href));
    expect(Object.fromEntries(searchParams)).toEqual({ tag: 'pear', sort: 'tag' });
    const other = await chromium.open(server, '/?tag=pear&sort=tag');
    await shows(other, rows, 'a pear');
    expect(await textOf(other, rows)).not.toContain('a apple');
    await click(page, 'Delete the view Pears');
    await hides(page, 'main', 'Pears');
    await page.close();
    await other.close();
  });

  it('viewers see a question without its buttons', async () => {
    const [session] = await asking('blue');
    const page = await chromium.open(server, '/', { token: server.viewerToken });
    await shows(page, rows, 'Run this command? echo blue');
    await untilInPage(page, () => !document.querySelector('a[href="/new"]'));
    const buttons = await page.$$eval('main article button, main input[type=checkbox]', (all) =>
      all.map((each) => each.getAttribute('aria-label')),
    );
    expect(buttons.filter((label) => !label?.startsWith('More for'))).toEqual([]);
    await click(page, 'More for blue');
    await shows(page, '[role=menu]', 'Changes as a patch');
    expect(await textOf(page, '[role=menu]')).not.toMatch(/Stop|Archive|Delete/);
    await stop(session);
  });

  it('a page that fails to load shows an error, and loads once the server is back', async () => {
    const page = await chromium.open(server);
    await shows(page, rows, 'blue');
    await server.end();
    await shows(page, 'header', 'reconnecting, nothing is lost');
    await shows(page, rows, 'blue');
    await click(page, 'Evaluations');
    await shows(page, 'main', 'The server cannot be reached. Nothing is lost');
    await server.start();
    // The page may have reconnected before the click.
    await untilInPage(page, () => {
      const buttons = [...document.querySelectorAll<HTMLElement>('main button')];
      buttons.find((button) => button.innerText.trim() === 'Try again')?.click();
      return document.querySelector('main')?.innerText.includes('No benchmark runs yet');
    });
  });
});
