import { Chromium, click, clickOn, describeSystem, shows, start } from '@belay/testkit';

describeSystem('the demo in the dashboard', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());

  it('asks one question and one approval in its ask-first form, and does what the user decides', async () => {
    const session = await start(server, {
      task: 'Ask me first.',
      workspace: 'example:ask-first',
      model: 'scripted:example:ask-first',
      approvals: 'ask',
    });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    const waiting = '[aria-label="Waiting for you"]';
    await shows(page, waiting, 'In which unit should the guide show distances?');
    await click(page, 'Miles', waiting);
    await shows(page, waiting, 'npm test');
    await click(page, 'Allow once', waiting);
    await session.finished();
    await clickOn(page, '#tab-changes');
    await shows(page, '[aria-label="Changes"]', '7.7 mi');
    const asked = session.events.filter(({ action }) => action === 'ask' || action === 'approval');
    expect(asked.map(({ action }) => action)).toEqual(['ask', 'approval']);
    session.close();
    expect(chromium.complaints).toEqual([]);
  });
});
