import { newEvent, type Event, type NewEvent } from './events.js';
import { undoneCommits, undoneMessages } from './undone-events.js';

const logOf = (...events: NewEvent[]): Event[] =>
  events.map((event, index) => ({ time: '', ...event, seq: index + 1 }));
const say = (text: string) =>
  newEvent('agent', 'say', { args: { text, calls: [] }, message: text });
const rewind = (seq: number, what: 'files' | 'conversation' | 'both', last?: number) =>
  newEvent('user', 'rewind', { args: { seq, what, last }, message: 'Rewound' });
const commit = (id: string) =>
  newEvent('agent', 'commit', {
    args: { commit: 'abcdef0', parent: null, files: [] },
    message: id,
    id,
  });
const result = (id: string) =>
  newEvent('agent', 'result', {
    args: { operation: 'files.write', ok: true, output: {}, seconds: 0 },
    message: id,
    id,
  });
const messagesOf = (log: readonly Event[]) => {
  const isUndone = undoneMessages(log);
  return log
    .filter((event) => event.action === 'say' && !isUndone(event))
    .map((one) => one.message);
};
const commitsOf = (log: readonly Event[]) => {
  const resultAt = (id?: string) =>
    log.find((event) => event.action === 'result' && event.id === id)?.seq;
  const isUndone = undoneCommits(log, resultAt);
  return log
    .filter((event) => event.action === 'commit' && !isUndone(event))
    .map((one) => one.message);
};

describe('messages', () => {
  it('after the event of a rewind are undone, and those after the rewind count', () => {
    expect(messagesOf(logOf(say('a'), say('b'), rewind(1, 'both'), say('c')))).toEqual(['a', 'c']);
    expect(messagesOf(logOf(say('a'), say('b'), rewind(1, 'files')))).toEqual(['a', 'b']);
  });

  it('come back with a rewind to before the rewind', () => {
    const log = logOf(say('a'), say('b'), rewind(1, 'conversation'), say('c'));
    expect(messagesOf([...log, { ...rewind(2, 'conversation'), seq: 5, time: '' }])).toEqual([
      'a',
      'b',
    ]);
  });

  it('of a reply that was in progress during the rewind do not count', () => {
    const late = newEvent('agent', 'say', {
      args: { text: 'late', calls: [], seen: { own: 0, others: 1 } },
      message: 'late',
    });
    expect(messagesOf(logOf(say('a'), say('b'), rewind(1, 'both'), late))).toEqual(['a']);
  });
});

describe('commits', () => {
  it('that a rewind of the files undid do not count, and that of the last result does', () => {
    const log = logOf(commit('start'), result('x'), commit('x'), result('y'), commit('y'));
    const rewound = (seq: number, what: 'files' | 'conversation' = 'files') =>
      commitsOf([...log, { ...rewind(seq, what, 5), seq: 6, time: '' }]);
    expect(rewound(2)).toEqual(['start', 'x']);
    expect(rewound(1)).toEqual(['start']);
    expect(rewound(1, 'conversation')).toEqual(['start', 'x', 'y']);
  });

  it('of the rewind itself counts', () => {
    const log = logOf(commit('start'), commit('x'), commit('rewind'), rewind(1, 'files', 2));
    expect(commitsOf(log)).toEqual(['start', 'rewind']);
  });
});
