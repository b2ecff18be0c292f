import { Chromium, fill, hides, press, shows, until } from '../chromium.js';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { multiply } from '../many-sessions.js';
import { run, script } from '../script.js';

describeSystem('a fleet of 200 sessions', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('draws what is seen, and finds one word among all logs', async () => {
    const model = script(server.data, [{ calls: [run('echo pattern')] }, { finish: 'Said.' }]);
    const session = await start(server, { task: 'Say it', title: 'The first', model });
    await session.finished();
    session.close();
    await server.end();
    const titles = Array.from({ length: 199 }, (_, index) => `copy${index}`);
    multiply(server.data, session.id, { word: 'pattern', titles });
    await server.start();

    const page = await chromium.open(server);
    await shows(page, '[aria-label="Totals"]', '200 sessions');
    await shows(page, '[aria-label="Sessions"]', 'Ended 200');
    expect(await page.$$eval('article', (all) => all.length)).toBeLessThan(60);

    await fill(page, 'Filter sessions and search their logs', 'echo copy137');
    await shows(page, '[aria-label="Found in logs"]', /\d places? in the logs/);
    await until(page, () => {
      const found = [...document.querySelectorAll('[aria-label="Found in logs"] li')];
      return found.length > 0 && found.every((each) => each.textContent?.includes('copy137'));
    });
    await page.click('[aria-label="Found in logs"] a');
    await shows(page, '[aria-label="Chat"]', 'Showing event');
    await page.goBack();
    await shows(page, '[aria-label="Found in logs"]', 'copy137');

    await fill(page, 'Filter sessions and search their logs', 'copy137');
    await shows(page, '[aria-label="Totals"]', '1 session');
    await fill(page, 'Filter sessions and search their logs', 'quince');
    await shows(page, '[aria-label="Found in logs"]', 'No log has these words.');
    await shows(page, 'main', 'No title, task or tag matches.');
    await press(page, 'Show all sessions');
    await hides(page, 'main', 'No log has');
    await shows(page, '[aria-label="Totals"]', '200 sessions');
    expect(chromium.complaints).toEqual([]);
  });
});
