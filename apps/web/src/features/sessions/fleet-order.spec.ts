/** @jest-environment node */
import type { SessionSummary } from '@belay/protocol';
import { orderFleet } from './fleet-order';

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
    tags: [],
    archived: false,
    ...more,
  }) as SessionSummary;

const ids = (sessions: SessionSummary[]) => sessions.map(({ id }) => id);

const fleet = [
  session('done', { state: 'finished', created: '2026-01-09T00:00:00Z' }),
  session('old'),
  session('new', { created: '2026-01-02T00:00:00Z', tags: ['red'] }),
  session('asks', { state: 'waiting', question: 'Which?' }),
  session('gone', { archived: true }),
];

describe('orderFleet', () => {
  it('puts those that wait first and those that ended last', () => {
    expect(ids(orderFleet(fleet, {}))).toEqual(['asks', 'new', 'old', 'done']);
  });

  it('does not let an ended session wait', () => {
    const stopped = session('stopped', { state: 'stopped', question: 'Which?' });
    expect(ids(orderFleet([stopped, session('runs')], {}))).toEqual(['runs', 'stopped']);
  });

  it.each([
    [{ show: 'archived' as const }, ['gone']],
    [{ show: 'ended' as const }, ['done']],
    [{ tag: 'red' }, ['new']],
    [{ q: 'DO OLD' }, ['old']],
  ])('narrows by %j', (filter, expected) => {
    expect(ids(orderFleet(fleet, filter))).toEqual(expected);
  });
});
