import {
  choose,
  Chromium,
  click,
  clickOn,
  describeSystem,
  focusOn,
  Followed,
  hides,
  shows,
} from '@belay/testkit';
import { startTwoSteps } from './two-steps.js';

const chat = '[aria-label="Chat"]';
const screen = '[aria-label="Terminal"] .xterm-rows';
const file = '[aria-label="Code"] .view-lines';

// timeline.long.e2e.ts rewinds, forks and shares.
describeSystem('the timeline', (server) => {
  const chromium = new Chromium();
  let session: Followed;
  /** The last event of the first step. */
  let early = 0;

  beforeAll(async () => {
    await chromium.start();
    ({ session, early } = await startTwoSteps(server));
  });
  afterAll(async () => {
    session.close();
    await chromium.dispose();
  });
  afterEach(() => chromium.closePages());
  afterEach(() => expect(chromium.complaints).toEqual([]));

  it('goes back with all panels in sync, and plays to the end again', async () => {
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await shows(page, screen, 'late-print');
    await page.goto(`${server.url}/sessions/${session.id}?at=${early}`);
    await shows(page, chat, `Showing event ${early} of`);
    await shows(page, chat, 'First step.');
    await shows(page, screen, 'early-print');
    await shows(page, '[aria-label="Plan"]', 'early');
    await shows(page, file, 'version one');
    // A card shows a disclosure mark, an icon, a verb and its subject.
    for (const [operation, label] of [
      ['files.write', 'Write a.txt'],
      ['files.read', 'Read a.txt'],
      ['terminal.run', 'Run echo early-print'],
    ] as const)
      await shows(page, `${chat} button > svg + svg + [title="${operation}"]`, label);
    for (const [panel, late] of [
      [chat, 'Second step.'],
      [screen, 'late-print'],
      ['[aria-label="Plan"]', 'late'],
    ] as const)
      await hides(page, panel, late);

    await focusOn(page, '[aria-label="Moment of the session"]');
    await page.keyboard.press('Home');
    await shows(page, chat, 'Showing event 1 of');
    await hides(page, chat, 'First step.');
    await choose(page, '[aria-label="Speed"]', '30');
    await click(page, 'Play from here');
    await shows(page, chat, 'Second step.');
    await shows(page, screen, 'late-print');
    await shows(page, file, 'version two');
    await clickOn(page, 'footer button[aria-pressed]');
    await hides(page, chat, 'Showing event');
  });
});
