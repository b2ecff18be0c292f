import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  belay,
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
import { evaluationCommand, ownProblem } from '../own-problems.js';

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
});
