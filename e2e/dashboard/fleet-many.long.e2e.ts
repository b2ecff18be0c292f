import { eventually } from '@belay/testing';
import {
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  hides,
  multiplySession,
  run,
  script,
  shows,
  start,
  untilInPage,
} from '@belay/testkit';

describeSystem('a fleet of 200 sessions', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('renders only visible rows, and finds a word in all logs', async () => {
    const model = script(server.data, [{ calls: [run('echo pattern')] }, { finish: 'Said.' }]);
    const session = await start(server, { task: 'Say it', title: 'The first', model });
    await session.finished();
    session.close();
    await server.end();
    const titles = Array.from({ length: 199 }, (_, index) => `copy${index}`);
    multiplySession(server.data, session.id, { word: 'pattern', titles });
    await server.start();

    const page = await chromium.open(server);
    await shows(page, '[aria-label="Totals"]', '200 sessions');
    await shows(page, '[aria-label="Sessions"]', 'Ended 200');
    expect(await page.$$eval('article', (all) => all.length)).toBeLessThan(60);

    const none = Array.from({ length: 8 }, () => 0);
    await eventually(async () => expect(await page.evaluate(columnOffsets)).toEqual(none));

    await fill(page, 'Filter sessions and search their logs', 'echo copy137');
    await shows(page, '[aria-label="Found in logs"]', /\d results? in the logs/);
    await untilInPage(page, () => {
      const found = [...document.querySelectorAll('[aria-label="Found in logs"] li')];
      return found.length > 0 && found.every((each) => each.textContent?.includes('copy137'));
    });
    await clickOn(page, '[aria-label="Found in logs"] a');
    await shows(page, '[aria-label="Chat"]', 'Showing event');
    await page.goBack();
    await shows(page, '[aria-label="Found in logs"]', 'copy137');

    await fill(page, 'Filter sessions and search their logs', 'copy137');
    await shows(page, '[aria-label="Totals"]', '1 session');
    await fill(page, 'Filter sessions and search their logs', 'quince');
    await shows(page, '[aria-label="Found in logs"]', 'No matches in the logs');
    await shows(page, 'main', 'No matching sessions');
    await click(page, 'Show all sessions');
    await hides(page, 'main', 'No matches in the logs');
    await shows(page, '[aria-label="Totals"]', '200 sessions');
    expect(chromium.complaints).toEqual([]);
  });
});

/**
 * The horizontal offset between each column of the first row and its heading, in pixels: of left
 * edges, and of right edges for figures.
 */
function columnOffsets(): number[] {
  const row = document.querySelector('article > div');
  const header = [...document.querySelectorAll('main div')].find(
    (each) => each.children.length === 4 && each.textContent?.startsWith('StateSession'),
  );
  const edges = (columns: Element | null | undefined): number[] => {
    const [, state, session, figures] = columns ? [...columns.children] : [];
    const left = [state, session].map((each) => each?.getBoundingClientRect().left ?? -1);
    const right = [...(figures?.children ?? [])].map((each) => each.getBoundingClientRect().right);
    return [...left, ...right];
  };
  const names = edges(header);
  return edges(row).map((edge, at) => Math.round(edge - (names[at] ?? Number.NaN)));
}
