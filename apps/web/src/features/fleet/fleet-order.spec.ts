import type { SessionSummary } from '@belay/protocol';
import { groupFleet, type FleetFilter } from './fleet-order';

const session = (id: string, more: Partial<SessionSummary> = {}): SessionSummary =>
  ({
    id,
    title: id,
    task: `do ${id}`,
    model: 'openai:gpt',
    state: 'running',
    created: '2026-01-01T00:00:00Z',
    waitingFor: [],
    question: null,
    attention: null,
    tags: [],
    archived: false,
    reason: null,
    dollars: 0,
    steps: 0,
    ...more,
  }) as SessionSummary;

const groups = (sessions: SessionSummary[], filter: FleetFilter) =>
  groupFleet(sessions, filter).map((group) => [group.title, ...group.sessions.map(({ id }) => id)]);

const fleet = [
  session('done', { state: 'finished', created: '2026-01-09T00:00:00Z' }),
  session('old'),
  session('new', { created: '2026-01-02T00:00:00Z', tags: ['red'], dollars: 2 }),
  session('asks', { state: 'waiting', question: 'Which?' }),
  session('gone', { archived: true }),
  session('queued', { state: 'starting', reason: 'Waiting for a free sandbox (0 before it).' }),
  session('held', { state: 'paused' }),
];

describe('groupFleet', () => {
  it('puts sessions that wait for the user first and ended ones last', () => {
    expect(groups(fleet, {})).toEqual([
      ['Needs you', 'asks'],
      ['Running', 'new', 'old'],
      ['Queued', 'queued'],
      ['Paused', 'held'],
      ['Ended', 'done'],
    ]);
  });

  it('sorts waiting sessions by the longest wait', () => {
    const asks = (id: string, updated: string) =>
      session(id, { state: 'waiting', question: 'Which?', updated });
    const waiting = [
      asks('since-nine', '2026-01-02T09:00:00Z'),
      asks('since-eight', '2026-01-02T08:00:00Z'),
    ];
    expect(groups(waiting, {})).toEqual([['Needs you', 'since-eight', 'since-nine']]);
  });

  it('does not count an ended session as waiting', () => {
    const stopped = session('stopped', { state: 'stopped', question: 'Which?' });
    expect(groups([stopped, session('runs')], {})).toEqual([
      ['Running', 'runs'],
      ['Ended', 'stopped'],
    ]);
  });

  it.each<[FleetFilter, unknown[]]>([
    [{ show: 'archived' }, [['Running', 'gone']]],
    [{ show: 'waiting' }, [['Needs you', 'asks']]],
    [{ show: 'ended' }, [['Ended', 'done']]],
    [{ tag: 'red' }, [['Running', 'new']]],
    [{ q: 'DO OLD' }, [['Running', 'old']]],
    [{ q: 'nothing like it' }, []],
  ])('filters by %j', (filter, expected) => {
    expect(groups(fleet, filter)).toEqual(expected);
  });

  it.each<[FleetFilter['sort'], unknown[]]>([
    ['newest', [[null, 'done', 'new', 'old', 'asks', 'queued', 'held']]],
    ['cost', [[null, 'new', 'done', 'old', 'asks', 'queued', 'held']]],
    [
      'tag',
      [
        ['red', 'new'],
        ['Untagged', 'done', 'old', 'asks', 'queued', 'held'],
      ],
    ],
  ])('orders by %s', (sort, expected) => {
    expect(groups(fleet, { sort })).toEqual(expected);
  });
});
