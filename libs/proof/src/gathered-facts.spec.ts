import { hash } from 'node:crypto';
import { logFacts, newEvent, sessionSettings, type NewEvent } from '@belay/protocol';
import { GatheredFacts } from './gathered-facts.js';

const settings = sessionSettings.parse({
  task: 'Fix it',
  model: 'scripted:x',
  approvals: 'ask',
  egress: { profile: 'none' },
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
function factsOf(
  events: readonly NewEvent[],
  epoch: number | null = null,
  facts = new GatheredFacts(),
) {
  for (const [at, { action, source, args, id = null }] of events.entries())
    facts.add({
      seq: at + 1,
      time: '2026-01-01T00:00:00.000Z',
      source,
      action,
      args: JSON.stringify(args),
      call: id,
      epoch,
    });
  return facts;
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

describe('the facts of a log', () => {
  it('are who decided what, which hosts were reached, and what the models cost', () => {
    const { facts } = factsOf(all);
    expect(logFacts.parse(facts)).toEqual(facts);
    const sha256 = hash('sha256', 'rm -r build', 'hex');
    const call = {
      operation: 'terminal.run',
      subject: { sha256 },
      at: expect.any(String) as string,
    };
    expect(facts).toMatchObject({
      agentRows: 0,
      serverRows: all.length,
      origin: null,
      task: { sha256: hash('sha256', 'Fix it', 'hex') },
      agent: { name: 'belay', image: null, profile: 'hardened' },
      models: [
        { name: 'scripted:x', calls: 2, inputTokens: 20, outputTokens: 4, microdollars: 750_000 },
      ],
      approvals: { mode: 'ask', asked: 2, approved: 1, rejected: 1 },
      egress: {
        profile: 'none',
        hosts: ['a.example:443', 'b.example:443'],
        allowed: 3,
        refused: 1,
      },
    });
    expect(facts.approvals.decisions).toEqual([
      { call: 'a', ...call, verdict: 'approved', by: 'user:ada', rule: null },
      { call: 'b', ...call, verdict: 'rejected', by: 'rule', rule: 'r1' },
    ]);
    expect(factsOf([used(1), used(null)]).facts.models[0]?.microdollars).toBeNull();
  });

  it('are none that an agent claims, whatever its rows are called', () => {
    const { facts } = factsOf(all, 1, factsOf([start]));
    expect(facts).toMatchObject({
      agentRows: all.length,
      serverRows: 1,
      models: [],
      approvals: { asked: 0, approved: 0, decisions: [] },
      egress: { hosts: [], refused: 0 },
    });
  });

  it('are none of another session, of which this one is a fork', () => {
    const fork = newEvent('server', 'fork', { args: { session: 'other', seq: 12 }, message: '' });
    const { facts } = factsOf([...all, fork, start, used(1)]);
    expect(facts).toMatchObject({
      serverRows: 3,
      origin: { session: 'other', seq: all.length },
      models: [{ calls: 1 }],
      approvals: { asked: 0 },
    });
  });

  it('leave out what cannot be read, and no more than the newest decisions', () => {
    const many = Array.from({ length: 150 }, () => approved);
    const { facts } = factsOf([start, { ...used(1), args: { model: 5 } }, ...many]);
    expect(facts.models).toEqual([]);
    expect(facts.approvals).toMatchObject({ approved: 150 });
    expect(facts.approvals.decisions).toHaveLength(100);
  });
});
