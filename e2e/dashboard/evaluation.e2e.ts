import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import {
  belay,
  choose,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  hides,
  shows,
  textOf,
  untilInPage,
} from '@belay/testkit';
import { until } from '@belay/testing';
import { evaluationCommand, manyProblems, offerData, ownProblem } from '../own-problems.js';

describeSystem('the board of benchmark runs', (server) => {
  const chromium = new Chromium();
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-board-'));
    await chromium.start();
  });
  afterAll(async () => {
    await chromium.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => chromium.closePages());

  const runs = '[aria-label="Benchmark runs"]';
  const tasks = '[aria-label="Tasks"]';

  it('fills during a run: preflight, verdicts, answers and test logs', async () => {
    const page = await chromium.open(server, '/evaluations');
    await shows(page, 'main', 'No benchmark runs yet');
    await shows(page, 'main', 'npx belay eval run human-eval');
    const problems = [
      ownProblem('good', '2 * n'),
      ownProblem('broken', 'n'),
      ownProblem('fine', 'n + n'),
    ];
    const command = evaluationCommand(
      join(folder, 'oracle'),
      problems,
      '--agent',
      'oracle',
      '--preflight',
    );
    const ended = belay(server.data, command);
    // The list updates live, so no reload is needed.
    await shows(page, runs, 'human-eval · oracle');
    await clickOn(page, `${runs} a`);
    await shows(page, tasks, 'Own/fine');
    const result = await ended;
    expect(result).toMatchObject({ code: 0 });
    expect(result.stderr).toContain(`Live board: ${server.url}/evaluations/`);
    await shows(page, 'main header', 'finished');
    await shows(page, 'main header', /66\.7%/);
    await shows(page, 'main header', /2 of 3 valid/);
    await shows(page, tasks, /Own\/broken\s*flagged\s*failed/);
    await untilInPage(page, () => document.title.startsWith('66.7%'));

    await click(page, 'Failed');
    await hides(page, tasks, 'Own/good');
    await click(page, 'Own/broken, attempt 1: failed');
    const detail = '[aria-label="Trial of Own/broken"]';
    await shows(page, detail, 'Preflight flagged this task: The reference solution does not pass');
    await shows(page, `${detail} [aria-label="Answer"]`, 'return n');
    await shows(page, `${detail} [aria-label="Test log"]`, 'AssertionError');
    // The view is part of the URL.
    await page.reload();
    await shows(page, detail, 'AssertionError');
    await shows(page, tasks, 'Own/broken');
    expect(await textOf(page, tasks)).not.toContain('Own/good');
    await click(page, 'Close the trial');
    await click(page, 'All');
    await fill(page, 'Filter tasks', 'fine');
    await hides(page, tasks, 'Own/good');
    await shows(page, tasks, 'Own/fine');
    expect(chromium.complaints).toEqual([]);
  });

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
