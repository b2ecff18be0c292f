import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import {
  choose,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  hides,
  shows,
  untilInPage,
} from '@belay/testkit';
import { until } from '@belay/testing';
import { manyProblems, offerData, ownProblem } from '../own-problems.js';

describeSystem('benchmark runs that are started from the dashboard', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());
  afterEach(() => chromium.closePages());

  const runs = '[aria-label="Benchmark runs"]';
  const tasks = '[aria-label="Tasks"]';
  const form = 'form[aria-label="New run"]';
  /** Chooses data and an agent in the form, one trial at a time, and starts the run with the keyboard. */
  const startRun = async (page: Page, data: string, agent: string): Promise<void> => {
    await choose(page, `${form} select`, data);
    await click(page, agent, form);
    await fill(page, 'Trials at a time', '1');
    await page.keyboard.press('Enter');
    await untilInPage(page, () => /^\/evaluations\/[0-9a-f]{16}$/.test(location.pathname));
  };
  it('starts a run of the data that the machine’s operator offers, and shows its verdicts', async () => {
    const page = await chromium.open(server, '/evaluations');
    await click(page, 'New run', 'main');
    await shows(page, 'main', 'No benchmark data yet');
    await shows(page, 'main', join(server.data, 'benchmarks'));
    offerData(server, 'two.jsonl', [ownProblem('sound', '2 * n'), ownProblem('unsound', 'n')]);
    offerData(server, 'notes.jsonl', [{ note: 'no task' }]);
    await click(page, 'Look again', 'main');
    await shows(page, form, 'two.jsonl (human-eval, 2 tasks)');
    await click(page, 'Data that no suite can read', 'main');
    await shows(page, 'main', 'notes.jsonl: ');
    await startRun(page, 'two.jsonl', 'Reference solution');
    await shows(page, 'main header', 'human-eval · oracle');
    await shows(page, 'main header', 'Started by Owner on this server: two.jsonl, all tasks');
    await shows(page, tasks, /Own\/sound\s*passed/);
    await shows(page, tasks, /Own\/unsound\s*flagged\s*failed/);
    await shows(page, 'main header', 'finished');
    await shows(page, 'main header', /50\.0%/);
    await hides(page, 'main header', 'Stop');
    // Its token ended with it.
    await until(
      'its token has ended',
      async () => (await server.client.tokens.list()).length === 0,
    );
    expect(chromium.complaints).toEqual([]);
  });

  it('stops a run, and says how to resume it; viewers can neither start nor stop one', async () => {
    offerData(server, 'manyProblems.jsonl', manyProblems);
    const page = await chromium.open(server, '/evaluations/new');
    await clickOn(page, `${form} [type=checkbox]`); // Preflight
    await startRun(page, 'manyProblems.jsonl', 'No change');
    await shows(page, 'main header', /[1-9]\d? of 100 trials/);
    const viewer = await chromium.open(server, '/evaluations', { token: server.viewerToken });
    await shows(viewer, runs, 'human-eval · nop');
    await hides(viewer, 'main', 'New run');
    await click(page, 'Stop', 'main header');
    await shows(page, '[role=dialog]', 'Stop this run?');
    await click(page, 'Stop', '[role=dialog]');
    await shows(page, 'main header', 'interrupted');
    await shows(page, 'main header', 'Owner stopped it.');
    await hides(page, tasks, 'verifying');
    const id = await page.evaluate(() => location.pathname.split('/').at(-1) ?? '');
    const { summary } = await server.client.evaluations.get(id);
    expect(summary.done).toBeGreaterThan(0);
    expect(summary.done).toBeLessThan(100);
    await shows(page, 'main header', `belay eval resume ${summary.folder}`);
    expect(chromium.complaints).toEqual([]);
  });
});
