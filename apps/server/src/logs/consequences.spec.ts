import {
  newEvent,
  sessionSettings,
  type Event,
  type NewEvent,
  type SessionState,
} from '@belay/protocol';
import { fold, takeOver } from './fold.js';
import type { SessionRecord } from './session-record.js';
import { firstSummary } from './session-summary.js';

const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:x' });
const created = '2026-01-01T00:00:00.000Z';
const empty: SessionRecord = {
  id: 's',
  created,
  epoch: 1,
  owner: null,
  lastSeq: 0,
  agentN: 0,
  head: null,
  chainedFrom: null,
  term: 1,
  termSeq: 0,
  settings,
  summary: firstSummary('s', settings, created),
};

const call = (action: string, args: object, id = action): NewEvent => ({
  source: 'agent',
  action,
  args: { ...args },
  message: action,
  id,
});
const bare = (action: 'stop' | 'pause' | 'resume') =>
  newEvent('user', action, { args: {}, message: action });
const start = (again = false) =>
  newEvent('user', 'start', { args: { ...settings, again }, message: 'Fix' });
const running = newEvent('server', 'state', {
  args: { state: 'running', reason: null },
  message: 'Works',
});
const failed = newEvent('server', 'state', {
  args: { state: 'failed', reason: 'Its sandbox was gone.' },
  message: 'Lost',
});
const approval = (id: string, mode: 'ask' | 'delay' = 'ask') => {
  const request = { id, operation: 'terminal.run', input: {}, risk: 'execute' as const };
  const args = { ...request, subject: 'make', mode, until: null };
  return newEvent('server', 'approval', { args, message: 'May it?', id });
};
const approve = (id: string) => newEvent('user', 'approve', { args: {}, message: 'Yes', id });
const message = newEvent('user', 'message', { args: { text: 'Blue.' }, message: 'Blue.' });
const review = newEvent('user', 'message', {
  args: { text: 'Too long.', review: { id: 'r', comments: [] } },
  message: 'Too long.',
});
const attention = (why: string | null) =>
  newEvent('agent', 'attention', { args: { why }, message: why ?? 'A key.' });
const began = newEvent('agent', 'turn', {
  args: { change: 'began', conversation: 'c', through: 0 },
  message: 'Began.',
});
const ran = newEvent('agent', 'result', {
  args: { operation: 'tool.codex.exec', ok: true, output: { text: '' }, seconds: 0 },
  message: 'Done.',
  id: 't',
});
const ask = call('ask', { question: 'Which colour?' });
const finish = (output: object, ok = true) => [
  call('finish', {}),
  newEvent('agent', 'result', {
    args: { operation: 'finish', ok, output, seconds: 0 },
    message: 'finish',
    id: 'finish',
  }),
];
const limit = newEvent('server', 'limit', {
  args: { budget: 'steps', limit: 3, used: 3 },
  message: 'Spent',
});
const error = newEvent('agent', 'error', {
  args: { code: 'limit_reached', message: 'Spent.' },
  message: 'Spent',
});

describe('the state of a session', () => {
  it.each<[string, NewEvent[], SessionState, string | null]>([
    ['begins', [start()], 'starting', null],
    ['runs', [start(), running], 'running', null],
    ['waits for an approval', [running, approval('a')], 'waiting', 'May terminal.run run? make'],
    ['does not wait for a delayed call', [running, approval('a', 'delay')], 'running', null],
    [
      'waits for the second',
      [running, approval('a'), approval('b'), approve('a')],
      'waiting',
      'May terminal.run run? make',
    ],
    [
      'resumes after the last',
      [running, approval('a'), approval('b'), approve('a'), approve('b')],
      'running',
      null,
    ],
    ['waits for an answer', [running, ask], 'waiting', 'Which colour?'],
    ['resumes after the answer', [running, ask, message], 'running', null],
    ['waits on after a review', [running, ask, review], 'waiting', 'Which colour?'],
    ['stays paused when a question comes', [running, bare('pause'), approval('a')], 'paused', null],
    [
      'waits after the pause',
      [running, bare('pause'), ask, bare('resume')],
      'waiting',
      'Which colour?',
    ],
    ['waits for a key in its terminal', [running, attention('Bell')], 'waiting', 'Bell'],
    ['resumes after the key', [running, attention('Bell'), attention(null)], 'running', null],
    ['waits on after a call’s result', [running, attention('Bell'), ran], 'waiting', 'Bell'],
    ['resumes with the next turn', [running, attention('Bell'), began], 'running', null],
    ['stays paused', [running, bare('pause'), attention('Bell')], 'paused', null],
    ['is not finished by the call alone', [running, call('finish', {})], 'running', null],
    ['finishes with its result', [running, ...finish({ summary: 'Done.' })], 'finished', 'Done.'],
    [
      'finishes in failure',
      [running, ...finish({ outcome: 'failure', summary: 'No.' })],
      'failed',
      'No.',
    ],
    [
      'does not finish when that was refused',
      [running, ...finish({ code: 'conflict', message: 'Read first.' }, false)],
      'running',
      null,
    ],
    ['does not finish by a broken result', [running, ...finish({ outcome: 'x' })], 'running', null],
    ['keeps its limit', [running, limit, error], 'limited', 'The budget of 3 steps is spent.'],
    ['fails', [running, error], 'failed', 'Spent.'],
    [
      'stays stopped',
      [running, bare('stop'), approve('a'), message, bare('resume'), error],
      'stopped',
      'Stopped by the user.',
    ],
    ['begins again', [running, approval('a'), bare('stop'), start(true)], 'starting', null],
  ])('%s', (_, events, state, reason) => {
    const { record } = fold(empty, events);
    expect(record.summary).toMatchObject({ state, reason });
  });

  it('and the whole summary come out of the log alone', () => {
    const events = [start(), running, approval('a'), approve('a'), ask, message, limit];
    const { record, events: stored } = fold(empty, events);
    const log: Event[] = stored.map(({ event }) => event);
    expect(takeOver(empty, log).record.summary).toEqual(record.summary);
  });

  it('keeps a question with the answers it offers, until it is answered', () => {
    const asked = call('ask', { question: 'Which colour?', options: ['Blue', 'Amber'] });
    expect(fold(empty, [running, asked]).record.summary).toMatchObject({
      question: 'Which colour?',
      options: ['Blue', 'Amber'],
    });
    const lost = [running, asked, failed, start(true)];
    expect(fold(empty, lost).record.summary).toMatchObject({
      state: 'starting',
      question: 'Which colour?',
      options: ['Blue', 'Amber'],
    });
    for (const events of [
      [running, asked, message],
      [...lost, message],
      [running, asked, bare('stop'), start(true)],
      [running, asked, start()],
    ])
      expect(fold(empty, events).record.summary).toMatchObject({ question: null, options: [] });
  });

  it('counts what models used, the plan and what is done now', () => {
    const usage = newEvent('server', 'usage', {
      args: {
        model: 'm',
        inputTokens: 100,
        cachedTokens: 0,
        outputTokens: 20,
        dollars: 0.5,
        contextTokens: 120,
        contextWindow: 1000,
      },
      message: 'Used',
    });
    const plan = newEvent('agent', 'plan', {
      args: { markdown: '- [x] a\n  - [ ] b\n* [X] c\n' },
      message: 'Plan',
    });
    const run = call('terminal.run', { command: 'npm test' }, 'c');
    const { summary } = fold(empty, [running, usage, usage, plan, run]).record;
    expect(summary).toMatchObject({
      steps: 2,
      tokens: 240,
      dollars: 1,
      contextTokens: 120,
      plan: { steps: 3, done: 2 },
      current: 'terminal.run npm test',
    });
  });
});
