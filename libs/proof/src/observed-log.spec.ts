import { hash } from 'node:crypto';
import { logObservations, newEvent, sessionSettings, type NewEvent } from '@belay/protocol';
import { ObservedLog } from './observed-log.js';

const settings = sessionSettings.parse({
  task: 'Fix it',
  model: 'scripted:x',
  approvals: 'ask',
  egress: { profile: 'none' },
  budgets: { steps: 9, dollars: 1.5, seconds: 60 },
});
const start = newEvent('user', 'start', { args: settings, message: '' });
const question = (id: string): NewEvent =>
  newEvent('server', 'approval', {
    args: {
      id,
      operation: 'terminal.run',
      input: {},
      risk: 'execute',
      subject: 'rm -r build',
      mode: 'ask',
      until: null,
    },
    message: '',
    id,
  });
const used = (dollars: number | null, purpose: 'turn' | 'draft' = 'turn'): NewEvent =>
  newEvent('server', 'usage', {
    args: {
      model: 'scripted:x',
      purpose,
      inputTokens: 10,
      cachedTokens: 0,
      outputTokens: 2,
      dollars,
      contextTokens: 12,
      contextWindow: null,
    },
    message: '',
  });
const connection = (host: string, verdict: 'allowed' | 'refused'): NewEvent =>
  newEvent('server', 'egress', {
    args: { host, port: 443, verdict, reason: null, sent: 0, received: 0 },
    message: '',
  });
const caller = { kind: 'caller', id: 'user:ada', label: 'Ada' } as const;
const approved = newEvent('user', 'approve', { args: { by: caller }, message: '', id: 'a' });
const rejected = newEvent('server', 'reject', {
  args: { reason: '', by: { kind: 'rule', rule: 'r1' } },
  message: '',
  id: 'b',
});

/** `epoch` of an agent for all of them. */
function observedIn(
  events: readonly NewEvent[],
  epoch: number | null = null,
  observed = new ObservedLog(),
) {
  for (const [at, { action, source, args, id = null }] of events.entries())
    observed.add({
      seq: at + 1,
      time: '2026-01-01T00:00:00.000Z',
      source,
      action,
      args: JSON.stringify(args),
      call: id,
      epoch,
    });
  return observed;
}

const all = [
  start,
  question('a'),
  approved,
  question('b'),
  rejected,
  used(0.25),
  used(0.5),
  used(9, 'draft'),
  connection('b.example', 'allowed'),
  connection('a.example', 'allowed'),
  connection('b.example', 'allowed'),
  connection('evil.example', 'refused'),
];

describe('what is observed in a log', () => {
  it('are who decided what, which hosts were reached, and what the models cost', () => {
    const observed = observedIn(all).result;
    expect(logObservations.parse(observed)).toEqual(observed);
    const sha256 = hash('sha256', 'rm -r build', 'hex');
    const call = {
      operation: 'terminal.run',
      subject: { sha256 },
      at: expect.any(String) as string,
    };
    expect(observed).toMatchObject({
      agentRows: 0,
      serverRows: all.length,
      origin: null,
      task: { sha256: hash('sha256', 'Fix it', 'hex') },
      agent: { name: 'belay', image: null, profile: 'hardened', machine: null },
      models: [
        { name: 'scripted:x', calls: 2, inputTokens: 20, outputTokens: 4, microdollars: 750_000 },
      ],
      budgets: {
        steps: { limit: 9, used: 2 },
        tokens: { limit: null, used: 36 },
        microdollars: { limit: 1_500_000, used: 9_750_000 },
        seconds: { limit: 60, used: 0 },
      },
      approvals: { mode: 'ask', asked: 2, approved: 1, rejected: 1 },
      egress: {
        profile: 'none',
        hosts: ['a.example:443', 'b.example:443'],
        allowed: 3,
        refused: 1,
      },
    });
    expect(observed.approvals.decisions).toEqual([
      { call: 'a', ...call, verdict: 'approved', by: 'user:ada', rule: null },
      { call: 'b', ...call, verdict: 'rejected', by: 'rule', rule: 'r1' },
    ]);
    expect(observedIn([used(1), used(null)]).result.models[0]?.microdollars).toBeNull();
  });

  it('are none that an agent claims, whatever its rows are called', () => {
    const observed = observedIn(all, 1, observedIn([start])).result;
    expect(observed).toMatchObject({
      agentRows: all.length,
      serverRows: 1,
      models: [],
      approvals: { asked: 0, approved: 0, decisions: [] },
      egress: { hosts: [], refused: 0 },
    });
  });

  it('are none of another session, of which this one is a fork', () => {
    const fork = newEvent('server', 'fork', { args: { session: 'other', seq: 12 }, message: '' });
    const observed = observedIn([...all, fork, start, used(1)]).result;
    expect(observed).toMatchObject({
      serverRows: 3,
      origin: { session: 'other', seq: all.length },
      models: [{ calls: 1 }],
      budgets: { steps: { limit: 9, used: 1 }, microdollars: { used: 1_000_000 } },
      approvals: { asked: 0 },
    });
  });

  it('are budgets that a user changed, and the time until the last event of the server', () => {
    const change = newEvent('user', 'change', {
      args: { budgets: { steps: null, tokens: 5, dollars: null, seconds: null } },
      message: '',
    });
    const observed = observedIn([start]);
    const row = { seq: 2, time: '2026-01-01T00:00:41.600Z', source: 'user', call: null };
    observed.add({ ...row, action: 'change', args: JSON.stringify(change.args), epoch: null });
    const later = { ...row, seq: 3, time: '2026-01-01T09:00:00.000Z', source: 'agent' };
    observed.add({ ...later, action: 'usage', args: JSON.stringify(used(1).args), epoch: 1 });
    expect(observed.result.budgets).toEqual({
      steps: { limit: null, used: 0 },
      tokens: { limit: 5, used: 0 },
      microdollars: { limit: null, used: 0 },
      seconds: { limit: null, used: 42 },
    });
  });

  it('are the machine that the sandbox was last placed on', () => {
    const placed = (machine: { name: string; kind: 'container' } | null) =>
      newEvent('server', 'placed', { args: { machine }, message: '' });
    const far = placed({ name: 'gpu-1', kind: 'container' });
    expect(observedIn([start, far]).result.agent.machine).toBe('gpu-1');
    expect(observedIn([start, far, placed(null)]).result.agent.machine).toBeNull();
    expect(observedIn([far], 1, observedIn([start])).result.agent.machine).toBeNull();
  });

  it('leave out what cannot be read, and no more than the newest decisions', () => {
    const many = Array.from({ length: 150 }, () => approved);
    const observed = observedIn([start, { ...used(1), args: { model: 5 } }, ...many]).result;
    expect(observed.models).toEqual([]);
    expect(observed.approvals).toMatchObject({ approved: 150 });
    expect(observed.approvals.decisions).toHaveLength(100);
  });
});
