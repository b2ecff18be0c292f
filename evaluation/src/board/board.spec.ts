import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EvaluationSummary, EvaluationTrial } from '@belay/protocol';
import { until } from '@belay/testing';
import { BelayServer } from '@belay/testkit';
import { fail, pass, type Trial, type Verdict } from '../model.js';
import { Journal } from '../results/journal.js';
import { saveValidity } from '../results/report.js';
import { saveRun } from '../results/run-file.js';
import { temporary, write } from '../testing/fixtures.js';
import { Board } from './board.js';

const { folder, remove } = temporary();
afterAll(remove);

const server = new BelayServer();
beforeAll(() => server.start(), 60_000);
afterAll(() => server.dispose());

const tasks = ['a', 'b', 'c', 'd'];
let runs = 0;

/** A results folder with a run of four tasks. */
function newRun(more: { boardId?: string } = {}): string {
  runs += 1;
  const out = join(folder, `run-${runs}`);
  saveRun(out, {
    version: 1,
    suite: 'human-eval',
    data: '/none',
    agent: 'nop',
    model: null,
    tasks,
    unattempted: [],
    attempts: 1,
    concurrency: runs,
    network: 'none',
    places: ['this-machine'],
    sessionLabels: {},
    buildNetwork: 'default',
    fromMap: [],
    sandbox: null,
    repos: null,
    timeoutMultiplier: 1,
    preflight: false,
    content: null,
    labels: {},
    provenance: null,
    created: '2026-01-01T00:00:00.000Z',
    ...more,
  });
  return out;
}

function trialOf(task: string, verdict: Verdict): Trial {
  const seconds = { build: 0, agent: 1, verify: 2 };
  return {
    key: task,
    suite: 'human-eval',
    task,
    attempt: 1,
    agent: 'nop',
    model: null,
    verdict,
    session: null,
    tokens: 5,
    dollars: 0.1,
    seconds,
    started: '2026-01-01T00:00:00.000Z',
  };
}

const connect = () => ({ client: server.client, url: server.url });

async function opened(out: string, notices: string[] = []): Promise<Board> {
  const board = await Board.open({ out, connect, onNotice: (said) => notices.push(said) });
  if (!board) throw new Error(notices.join(' '));
  return board;
}

const idOf = (board: Board) => board.url.split('/').at(-1) ?? '';

/** Journals a trial before reporting it, as a run does. */
function judge(out: string, board: Board | undefined, trial: Trial): void {
  const journal = new Journal(join(out, 'results.jsonl'));
  journal.append(trial);
  journal.close();
  board?.judged(trial);
}

/** Waits until `holds` is true, and returns the trials that the board then shows. */
async function shows(
  id: string,
  holds: (summary: EvaluationSummary, states: Record<string, string>) => boolean,
): Promise<EvaluationTrial[]> {
  const now = async () => {
    const { summary } = await server.client.evaluations.get(id);
    const { trials } = await server.client.evaluations.trials(id);
    return { summary, trials };
  };
  return until(
    'the board shows it',
    async () => {
      const { summary, trials } = await now();
      const states = Object.fromEntries(trials.map(({ task, state }) => [task, state]));
      return holds(summary, states) && trials;
    },
    { timeoutMs: 60_000, intervalMs: 50, state: async () => JSON.stringify(await now()) },
  );
}

it('has the id that its starter chose, also when it is resumed', async () => {
  const out = newRun({ boardId: 'chosen' });
  for (let times = 0; times < 2; times += 1) {
    const board = await opened(out);
    expect(idOf(board)).toBe('chosen');
    await board.close('finished', null);
  }
});

it('shows each trial in progress, with answer and test log, and the end', async () => {
  const out = newRun();
  const board = await opened(out);
  const id = idOf(board);
  board.checked({ done: 3, all: 8 });
  await shows(id, ({ phase, checks }) => phase === 'preflight' && checks?.done === 3);
  board.begin();
  board.at({ task: 'a', attempt: 1, session: null }, 'building');
  board.at({ task: 'a', attempt: 1, session: 's-1' }, 'working');
  await shows(id, ({ phase }, { a }) => phase === 'trials' && a === 'working');
  write(out, {
    'trials/a.1/main/artifacts.json': JSON.stringify({
      entries: [
        { path: '/app/x.py', kind: 'file', bytes: Buffer.from('x = 1\n').toString('base64') },
      ],
      removed: ['/app/y.py'],
    }),
    'trials/a.1/main/test-output.txt': `${'noise '.repeat(60_000)}1 failed\n`,
  });
  judge(out, board, trialOf('a', fail('One test failed.')));
  const [a] = await shows(id, ({ done }) => done === 1);
  expect(a).toMatchObject({
    verdict: { outcome: 'fail', cause: 'wrong', detail: 'One test failed.' },
  });
  const text = async (blob: string | null | undefined) =>
    Buffer.from(await server.client.evaluations.blob(id, blob ?? '')).toString();
  expect(await text(a?.answer)).toBe('/app/x.py\nx = 1\n\n/app/y.py was removed\n');
  const log = await text(a?.log);
  expect(log).toMatch(/^See the results folder for the beginning …\n[^]*1 failed\n$/);
  expect(log.length).toBeLessThan(300_000);
  saveValidity(out, [
    { task: 'a', valid: false, nop: 'pass', oracle: 'pass', why: 'Doing nothing passes.' },
  ]);
  expect(await board.close('failed', 'The engine is gone.')).toBe(true);
  expect((await server.client.evaluations.get(id)).summary).toMatchObject({
    state: 'failed',
    checks: null,
    reason: 'The engine is gone.',
    outcomes: { pass: 0, fail: 1, invalid: 0 },
    score: { value: 0, valid: null },
    validity: { checked: 1, flagged: [{ task: 'a', why: 'Doing nothing passes.' }] },
  });
});

it('loses nothing when the server is killed in between, and never waits for it', async () => {
  const out = newRun();
  const notices: string[] = [];
  const board = await opened(out, notices);
  const id = idOf(board);
  judge(out, board, trialOf('a', pass()));
  await server.end('SIGKILL');
  judge(out, board, trialOf('b', pass()));
  board.at({ task: 'c', attempt: 1, session: null }, 'working');
  await server.start();
  judge(out, board, trialOf('c', fail('No.')));
  await shows(id, ({ done }) => done === 3);
  expect(await board.close('interrupted', 'Ctrl-C')).toBe(true);
  expect((await server.client.evaluations.get(id)).summary).toMatchObject({
    state: 'interrupted',
    outcomes: { pass: 2, fail: 1, invalid: 0 },
    tokens: 15,
  });
  expect(notices).toEqual([]);
});

it('a resumed run stays the same one: missing reports are sent, and the previous process is refused', async () => {
  const out = newRun();
  const notices: string[] = [];
  const killed = await opened(out, notices);
  const id = idOf(killed);
  killed.at({ task: 'a', attempt: 1, session: null }, 'working');
  killed.at({ task: 'b', attempt: 1, session: null }, 'working');
  await shows(id, (_, { a, b }) => a === 'working' && b === 'working');
  // Journaled, but killed before it was reported.
  judge(out, undefined, trialOf('a', pass()));
  const resumed = await opened(out);
  expect(idOf(resumed)).toBe(id);
  await shows(id, ({ done }, { a, b }) => done === 1 && a === 'done' && b === 'queued');
  killed.at({ task: 'b', attempt: 1, session: null }, 'verifying');
  await killed.close('finished', null);
  expect(notices).toEqual([
    'The board no longer accepts reports: Another process reports this run now.',
  ]);
  for (const task of ['b', 'c', 'd']) judge(out, resumed, trialOf(task, pass()));
  await resumed.close('finished', null);
  const { summary } = await server.client.evaluations.get(id);
  expect(summary).toMatchObject({ state: 'finished', done: 4, doneBefore: 0, tokens: 20 });
  const again = await opened(out);
  await again.close('finished', null);
  // Nothing has changed, so no trial was sent.
  expect((await server.client.evaluations.get(id)).summary.seq).toBe(summary.seq);
});

// The last one: it ends the server.
it('without a server there is one notice and no board', async () => {
  const out = newRun();
  const notices: string[] = [];
  const unreachable = () => ({ client: server.client, url: server.url });
  await server.end();
  const board = await Board.open({
    out,
    connect: unreachable,
    onNotice: (said) => notices.push(said),
  });
  expect(board).toBeUndefined();
  expect(notices).toEqual([
    expect.stringMatching(/^There is no live board: No Belay server answers/),
  ]);
  rmSync(out, { recursive: true });
});
