import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { ProviderServer, streaming } from '../../apps/server/src/models/testing/provider-server.js';
import { chatCompletions } from '../../apps/server/src/models/testing/provider-wires.js';
import {
  belay,
  choose,
  Chromium,
  click,
  clickOn,
  describeSystem,
  fill,
  hides,
  prepared,
  run,
  script,
  shows,
  textOf,
  untilInPage,
} from '@belay/testkit';
import { until } from '@belay/testing';

const problem = (name: string, solution: string) => ({
  task_id: `Own/${name}`,
  prompt: 'def double(n):\n    """Twice n."""\n',
  entry_point: 'double',
  canonical_solution: `    return ${solution}\n`,
  test: 'def check(candidate):\n    assert candidate(4) == 8\n',
});

describeSystem('the board of benchmark runs', (server) => {
  const chromium = new Chromium();
  let folder: string;
  let provider: ProviderServer;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-board-'));
    provider = await ProviderServer.open();
    await chromium.start();
  });
  afterAll(async () => {
    await chromium.dispose();
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * The arguments of a benchmark run of these problems; its results are in a folder of the same
   * name.
   */
  const evaluate = (name: string, problems: object[], ...more: string[]): string[] => {
    const data = join(folder, `${name}.jsonl`);
    writeFileSync(data, problems.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const given = ['--data', data, '--out', join(folder, name)];
    const image = ['--base-image', prepared('BELAY_TEST_IMAGE')];
    return ['eval', 'run', 'human-eval', ...given, ...image, ...more];
  };
  const runs = '[aria-label="Benchmark runs"]';
  const tasks = '[aria-label="Tasks"]';

  it('fills during a run: preflight, verdicts, answers and test logs', async () => {
    const page = await chromium.open(server, '/evaluations');
    await shows(page, 'main', 'No benchmark runs yet');
    await shows(page, 'main', 'npx belay eval run human-eval');
    const problems = [problem('good', '2 * n'), problem('broken', 'n'), problem('fine', 'n + n')];
    const command = evaluate('oracle', problems, '--agent', 'oracle', '--preflight');
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

  it('links a trial of a model to its session, live and as a replay; viewers may watch', async () => {
    const model = script(server.data, [
      { calls: [run('until [ -f go ]; do sleep 0.1; done')] },
      { calls: [run("printf 'def double(n):\\n    return 2 * n\\n' > solution.py")] },
      { finish: 'Doubled.' },
      // The first finish is refused if the agent has not yet seen the file that the user created.
      { finish: 'Doubled.' },
    ]);
    const command = evaluate('model', [problem('only', '2 * n')], '--model', model);
    const ended = belay(server.data, command);
    const page = await chromium.open(server, '/evaluations', { token: server.viewerToken });
    await shows(page, runs, 'scripted:');
    await clickRun(page, 'scripted:');
    await shows(page, tasks, 'agent working');
    await click(page, 'Own/only, attempt 1: agent working');
    await click(page, 'Watch the session');
    await shows(page, '[aria-label="Chat"]', 'until [ -f go ]');
    const session = (await page.evaluate(() => location.pathname)).split('/')[2] ?? '';
    await server.client.sessions.call(session, 'files.write', { path: 'go', content: '' });
    await page.goBack();
    expect(await ended).toMatchObject({ code: 0 });
    await shows(page, '[aria-label="Trial of Own/only"]', 'passed');
    await shows(page, '[aria-label="Trial of Own/only"] [aria-label="Answer"]', 'return 2 * n');
    await click(page, 'Replay the session');
    await shows(page, '[aria-label="Chat"]', 'Doubled.');
    expect(chromium.complaints).toEqual([]);
  });

  it('shows how to resume an interrupted run, and fills when it is resumed', async () => {
    const problems = Array.from({ length: 5 }, (_, index) => problem(`${index}`, '2 * n'));
    const out = join(folder, 'cut');
    const command = evaluate('cut', problems, '--agent', 'nop', '--concurrency', '1');
    let isCut = false;
    const ended = belay(server.data, command, {
      onStderr: (text, kill) => {
        if (isCut || !text.includes(' 1/5 ')) return;
        isCut = true;
        kill('SIGINT');
      },
    });
    const page = await chromium.open(server, '/evaluations');
    await shows(page, runs, 'human-eval · nop');
    await clickRun(page, '· nop');
    expect(await ended).toMatchObject({ code: 130 });
    await shows(page, 'main header', 'interrupted');
    await shows(page, 'main header', `belay eval resume ${out}`);
    expect(await belay(server.data, ['eval', 'resume', out])).toMatchObject({ code: 0 });
    await shows(page, 'main header', '5 of 5 trials');
    await shows(page, 'main header', 'finished');
    await hides(page, 'main header', 'belay eval resume');
  });

  /** Puts problems where the server finds data for its own runs. */
  const offer = (name: string, problems: object[]): void => {
    const data = join(server.data, 'benchmarks');
    mkdirSync(data, { recursive: true });
    const lines = problems.map((each) => `${JSON.stringify(each)}\n`);
    writeFileSync(join(data, name), lines.join(''));
  };
  const form = 'form[aria-label="New run"]';
  /** Chooses data and an agent in the form, one trial at a time, and starts the run with the keyboard. */
  const startRun = async (page: Page, data: string, agent: string): Promise<void> => {
    await choose(page, `${form} select`, data);
    await click(page, agent, form);
    await fill(page, 'Trials at a time', '1');
    await page.keyboard.press('Enter');
    await untilInPage(page, () => /^\/evaluations\/[0-9a-f]{16}$/.test(location.pathname));
  };
  // More than are tried before a run is stopped or killed.
  const many = Array.from({ length: 100 }, (_, index) => problem(`${index}`, '2 * n'));

  it('starts a run of the data that the machine’s operator offers, and shows its verdicts', async () => {
    const page = await chromium.open(server, '/evaluations');
    await click(page, 'New run', 'main');
    await shows(page, 'main', 'No benchmark data yet');
    await shows(page, 'main', join(server.data, 'benchmarks'));
    offer('two.jsonl', [problem('sound', '2 * n'), problem('unsound', 'n')]);
    offer('notes.jsonl', [{ note: 'no task' }]);
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
    offer('many.jsonl', many);
    const page = await chromium.open(server, '/evaluations/new');
    await clickOn(page, `${form} [type=checkbox]`); // Preflight
    await startRun(page, 'many.jsonl', 'No change');
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

  it('lets a model work, with a token that may only operate, up to a limit of the cost', async () => {
    const url = `${provider.url}/v1`;
    await server.client.models.setProvider('openai-compatible', { url, unchecked: true });
    const solve = "printf 'def double(n):\\n    return 2 * n\\n' > solution.py";
    for (const text of [
      'ready',
      `{{terminal.run(${JSON.stringify(solve)})}}`,
      '{{finish("Done.")}}',
    ])
      provider.answer(streaming(chatCompletions.reply({ text })));
    offer('priced.jsonl', [problem('first', '2 * n'), problem('second', '2 * n')]);
    const { id } = await server.client.evaluations.start({
      data: 'priced.jsonl',
      agent: 'model',
      model: 'openai-compatible:small?tools=tags&price=1000/1000',
      sample: null,
      attempts: 1,
      concurrency: 1,
      maxDollars: 0.01,
      preflight: false,
    });
    const page = await chromium.open(server, `/evaluations/${id}`);
    await shows(page, 'main header', 'interrupted');
    await shows(page, 'main header', /The trials have cost \$\S+ of at most \$0\.01/);
    await shows(page, tasks, /Own\/first\s*passed/);
    await shows(page, tasks, /Own\/second\s*queued/);
    const { trials } = await server.client.evaluations.trials(id);
    const session = trials.find(({ task }) => task === 'Own/first')?.session ?? '';
    expect(await server.client.sessions.get(session)).toMatchObject({
      archived: true,
      tags: ['evaluation', 'human-eval'],
    });
    expect(chromium.complaints).toEqual([]);
  });

  it('ends a run whose server was killed, and says so after the next start', async () => {
    offer('some.jsonl', many.slice(0, 12));
    const started = await server.client.evaluations.start({
      data: 'some.jsonl',
      agent: 'nop',
      model: null,
      sample: null,
      attempts: 1,
      concurrency: 1,
      maxDollars: null,
      preflight: false,
    });
    const { id, folder: results } = started;
    const now = async () => (await server.client.evaluations.get(id)).summary;
    await until('it is at work', async () => (await now()).done > 0, { timeoutMs: 90_000 });
    await server.end('SIGKILL');
    await server.start();
    const reason = 'The server ended while it was in progress.';
    expect(await now()).toMatchObject({ state: 'interrupted', reason });
    // Its process releases the folder.
    expect(await belay(server.data, ['eval', 'resume', results])).toMatchObject({ code: 0 });
    expect(await now()).toMatchObject({ state: 'finished', done: 12 });
  });
});

/** Clicks the run whose name contains this text. */
async function clickRun(page: Page, text: string): Promise<void> {
  const names = await page.$$eval('[aria-label="Benchmark runs"] a', (all) =>
    all.map((link) => (link as HTMLElement).innerText.trim()),
  );
  await click(page, names.find((name) => name.includes(text)) ?? text);
}
