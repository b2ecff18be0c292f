import { summaryWith } from '@/testing/session-log';
import { fleetLines, keyOfLine } from './fleet-lines';
import { groupFleet } from './fleet-order';

const of = (id: string, part: Parameters<typeof summaryWith>[0] = {}) =>
  summaryWith({ id, comparison: 'c', ...part });
const linesOf = (sessions: ReturnType<typeof of>[], unfolded: string[] = []) =>
  fleetLines(groupFleet(sessions, {}), new Set(unfolded)).map(keyOfLine);

describe('a comparison in the list', () => {
  const sessions = [
    of('a', { state: 'finished' }),
    of('b'),
    of('x', { comparison: null, state: 'finished' }),
  ];

  it('is one row at the position of its most urgent session, and can be expanded', () => {
    expect(linesOf(sessions)).toEqual(['Running', 'comparison c', 'Ended', 'x']);
    expect(linesOf(sessions, ['c'])).toEqual(['Running', 'comparison c', 'a', 'b', 'Ended', 'x']);
  });

  it('shows sessions that wait for the user even when it is collapsed', () => {
    const asks = of('q', { state: 'waiting', question: '?' });
    expect(linesOf([...sessions, asks])).toEqual(['Needs you', 'comparison c', 'q', 'Ended', 'x']);
  });

  it('is an ordinary row when only one of its sessions is shown', () => {
    expect(linesOf([of('a')])).toEqual(['Running', 'a']);
  });
});
