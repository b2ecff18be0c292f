import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { ProviderServer, streaming } from '../../apps/server/src/models/testing/provider-server.js';
import { chatCompletions } from '../../apps/server/src/models/testing/provider-wires.js';
import { belay, Chromium, click, describeSystem, hides, run, script, shows } from '@belay/testkit';
import { until } from '@belay/testing';
import { evaluationCommand, manyProblems, offerData, ownProblem } from '../own-problems.js';

const runs = '[aria-label="Benchmark runs"]';
const tasks = '[aria-label="Tasks"]';

describeSystem('benchmark runs by models, and runs that are resumed', (server) => {
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
  afterEach(() => chromium.closePages());

  it('links a trial of a model to its session, live and as a replay; viewers may watch', async () => {
    const model = script(server.data, [
      { calls: [run('until [ -f go ]; do sleep 0.1; done', { wait: 600 })] },
      { calls: [run("printf 'def double(n):\\n    return 2 * n\\n' > solution.py")] },
      { finish: 'Doubled.' },
      // The first finish is refused if the agent has not yet seen the file that the user created.
      { finish: 'Doubled.' },
    ]);
    const command = evaluationCommand(
      join(folder, 'model'),
      [ownProblem('only', '2 * n')],
      '--model',
      model,
    );
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
    const problems = Array.from({ length: 5 }, (_, index) => ownProblem(`${index}`, '2 * n'));
    const out = join(folder, 'cut');
    const command = evaluationCommand(
      join(folder, 'cut'),
      problems,
      '--agent',
      'nop',
      '--concurrency',
      '1',
    );
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
    offerData(server, 'priced.jsonl', [
      ownProblem('first', '2 * n'),
      ownProblem('second', '2 * n'),
    ]);
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
    offerData(server, 'some.jsonl', manyProblems.slice(0, 12));
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
