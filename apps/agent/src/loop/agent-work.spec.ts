import { newEvent, type Event, type NewEvent } from '@belay/protocol';
import { AgentWork } from './agent-work.js';

const logOf = (...events: NewEvent[]): Event[] =>
  events.map((event, index) => ({ time: '', ...event, seq: index + 1 }));
const result = (id: string, operation = 'files.write', output: object = {}) =>
  newEvent('agent', 'result', {
    args: { operation, ok: true, output, seconds: 0 },
    message: id,
    id,
  });
const commit = (id: string, commitId: string, ...paths: string[]) =>
  newEvent('agent', 'commit', {
    args: {
      commit: commitId,
      parent: null,
      files: paths.map((path) => ({ path, added: 1, removed: 0 })),
    },
    message: id,
    id,
  });
const rewind = (seq: number, what: 'files' | 'conversation' = 'files', last?: number) =>
  newEvent('user', 'rewind', { args: { seq, what, last }, message: 'Rewound' });
const undo = (id: string, undone: string) =>
  result(id, 'workspace.undo', {
    files: [],
    commit: 'ffffff0',
    undone: { commit: undone, time: '2026-01-01T00:00:00.000Z', message: 'A step' },
  });

/** The rewinds of users come last, as they may when a prompt includes them. */
function workOf(log: readonly Event[]): AgentWork {
  const work = new AgentWork();
  for (const event of log) {
    if (event.action === 'result') work.end(event as Parameters<AgentWork['end']>[0]);
    if (event.action === 'commit') work.commit(event as Parameters<AgentWork['commit']>[0]);
  }
  for (const event of log) if (event.source === 'user') work.include(event);
  return work;
}
const pathsOf = (...events: NewEvent[]) => {
  const work = workOf(logOf(...events));
  return { changed: work.changed, undone: work.undone };
};

const twice = [
  result('c1'),
  commit('c1', 'aaaaaa1', 'a.ts'),
  result('c2'),
  commit('c2', 'aaaaaa2', 'a.ts', 'b.ts'),
];

describe('the files that an agent has changed', () => {
  it('are those of its own calls', () => {
    expect(pathsOf(...twice, commit('user-1', 'aaaaaa3', 'c.ts'))).toEqual({
      changed: ['a.ts', 'b.ts'],
      undone: [],
    });
  });

  it('count until all of their changes were rewound', () => {
    expect(pathsOf(...twice, rewind(2))).toEqual({ changed: ['a.ts'], undone: ['b.ts'] });
    expect(pathsOf(...twice, rewind(2, 'conversation')).undone).toEqual([]);
    const start = newEvent('server', 'state', {
      args: { state: 'running', reason: null },
      message: 'running',
    });
    expect(pathsOf(start, ...twice, rewind(1))).toEqual({ changed: [], undone: ['a.ts', 'b.ts'] });
  });

  it('stay changed by a step whose commit follows the event of a rewind', () => {
    expect(pathsOf(...twice, rewind(3))).toEqual({ changed: ['a.ts', 'b.ts'], undone: [] });
  });

  it('count again once the rewind was itself undone, and after changes that followed it', () => {
    expect(pathsOf(...twice, rewind(2, 'files', 4), rewind(4))).toEqual({
      changed: ['a.ts', 'b.ts'],
      undone: [],
    });
    expect(pathsOf(...twice, rewind(2, 'files', 4), commit('c3', 'aaaaaa3', 'b.ts'))).toEqual({
      changed: ['a.ts', 'b.ts'],
      undone: [],
    });
  });

  it('count until their step was undone, and again once that was undone', () => {
    const undone = [
      ...twice,
      undo('user-1', 'aaaaaa2'),
      commit('user-1', 'ffffff0', 'a.ts', 'b.ts'),
    ];
    expect(pathsOf(...undone)).toEqual({ changed: ['a.ts'], undone: ['b.ts'] });
    expect(pathsOf(...undone, undo('user-2', 'ffffff0'), commit('user-2', 'eeeeee0'))).toEqual({
      changed: ['a.ts', 'b.ts'],
      undone: [],
    });
  });

  it('are the same in a copy, which continues independently', () => {
    const work = workOf(logOf(...twice));
    const fork = work.fork();
    for (const event of logOf(...twice, rewind(2))) work.include(event);
    expect([work.undone, fork.undone]).toEqual([['b.ts'], []]);
  });
});
