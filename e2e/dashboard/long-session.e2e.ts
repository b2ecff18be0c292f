import {
  Chromium,
  click,
  describeSystem,
  focusOn,
  lengthen,
  script,
  shows,
  start,
  untilInPage,
} from '@belay/testkit';

describeSystem('a session of 30,000 events', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('opens at its end, scrolls back to its beginning, and stays live', async () => {
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
});
