import {
  Chromium,
  click,
  clickOn,
  describeSystem,
  focusOn,
  lengthen,
  run,
  script,
  shows,
  start,
  untilInPage,
} from '@belay/testkit';

const changes = '[aria-label="Changes"]';

describeSystem('a large session', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('of 30,000 events opens at its end, scrolls back to its beginning, and stays live', async () => {
    const model = script(server.data, [
      { finish: 'The first end.' },
      { say: 'I am back.', finish: 'The second end.' },
    ]);
    const session = await start(server, { task: 'Live long', title: 'Long', model });
    await session.finished();
    session.close();
    await server.end();
    lengthen(server.data, session.id, 30_000);
    await server.start();

    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, '[aria-label="Chat"]', 'Word 29999.');
    await shows(page, 'footer', /event 300\d\d/);
    // The whole log is loaded once the slider begins at 1.
    await untilInPage(
      page,
      () => document.querySelector<HTMLInputElement>('[type=range]')?.min === '1',
    );
    await focusOn(page, '[type=range]');
    await page.keyboard.press('Home');
    await shows(page, '[aria-label="Chat"]', 'Showing event 1 of');
    await shows(page, '[aria-label="Chat"]', 'Live long');
    await click(page, 'end', 'footer');
    await shows(page, '[aria-label="Chat"]', 'Word 29999.');
    expect(chromium.complaints).toEqual([]);
  });

  it('of 2,000 changed files can be read through, and only the visible files are rendered', async () => {
    const write =
      'for i in $(seq -w 2000); do printf "line %d of many in the file $i\\n" {1..30} > $i.txt; done';
    const model = script(server.data, [
      { calls: [run(write, { wait: 600 })] },
      { finish: 'All written.' },
    ]);
    const many = await start(server, { task: 'Write many', title: 'Many files', model });
    await many.finished();
    many.close();
    const other = await chromium.open(server, `/sessions/${many.id}`);
    await clickOn(other, '#tab-changes');
    await shows(other, changes, '2,000 files');
    await shows(other, changes, '+60,000');
    await shows(other, `${changes} [role=region]`, 'line 1 of many in the file 0001');
    expect(await other.$$eval('*', (all) => all.length)).toBeLessThan(6_000);
    await untilInPage(other, () => {
      const diff = document.querySelector('[aria-label="Diff"]');
      diff?.scrollTo(0, diff.scrollHeight);
      return diff?.textContent?.includes('2000.txt');
    });
    // The diff was cut off before this file, so its lines are fetched.
    await clickOn(other, `${changes} button:has([title="2000.txt"])`);
    await untilInPage(other, () => {
      const diff = document.querySelector('[aria-label="Diff"]');
      diff?.scrollTo(0, diff.scrollHeight);
      return diff?.textContent?.includes('line 30 of many in the file 2000');
    });
    expect(await other.$$eval('*', (all) => all.length)).toBeLessThan(6_000);
    await other.browserContext().close();
  });
});
