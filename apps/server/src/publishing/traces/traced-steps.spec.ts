import type { Event } from '@belay/protocol';
import { tracedSteps } from './traced-steps.js';

const event = (action: string, args: object, more: object = {}): Event =>
  ({ seq: 1, time: '', source: 'agent', action, args, message: '', ...more }) as unknown as Event;
const start = event('start', { model: 'openai:gpt-5' }, { source: 'user' });
const commit = (to: string, parent: string | null, id?: string): Event =>
  event('commit', { commit: to, parent, files: [] }, id === undefined ? {} : { id });
const write = (id: string, source = 'agent'): Event =>
  event('files.write', { path: 'a', content: 'b' }, { id, source });
const run = (id: string): Event => event('terminal.run', { command: 'make' }, { id });
const ai = { type: 'ai', model_id: 'openai/gpt-5' };
const human = { type: 'human' };
const unknown = { type: 'unknown' };

describe('the steps of a session', () => {
  it('are whose calls they are of, successive ones of one contributor together', () => {
    const events = [start, commit('0', null), write('a'), commit('1', '0', 'a'), run('b')];
    events.push(commit('2', '1', 'b'), commit('2', '2'), write('c', 'user'), commit('3', '2', 'c'));
    expect(tracedSteps(events)).toEqual([
      { from: '0', to: '2', contributor: ai },
      { from: '2', to: '3', contributor: human },
    ]);
  });

  it('have the model that the session had then', () => {
    const change = event('change', { model: 'anthropic:claude' }, { source: 'user' });
    const events = [start, commit('0', null), write('a'), commit('1', '0', 'a')];
    events.push(change, write('b'), commit('2', '1', 'b'));
    expect(tracedSteps(events)).toEqual([
      { from: '0', to: '1', contributor: ai },
      { from: '1', to: '2', contributor: { type: 'ai', model_id: 'anthropic/claude' } },
    ]);
  });

  it('are mixed where the user may have a part in them', () => {
    const typed = { terminal: 'main', change: 'typed', columns: 80, rows: 24, holder: 'user' };
    const events = [start, commit('0', null), event('terminal', typed)];
    events.push(write('a'), commit('1', '0', 'a'), run('b'), commit('2', '1', 'b'));
    expect(tracedSteps(events)).toEqual([
      { from: '0', to: '1', contributor: ai },
      { from: '1', to: '2', contributor: { ...ai, type: 'mixed' } },
    ]);
  });

  it('are unknown without a call, after a gap, and where others’ lines come back', () => {
    const undo = event('workspace.undo', { commit: '1' }, { id: 'u', source: 'user' });
    const events = [start, commit('0', null), commit('1', '0'), write('a'), commit('2', '1', 'a')];
    events.push(write('b'), commit('4', '3', 'b'), undo, commit('5', '4', 'u'));
    expect(tracedSteps(events)).toEqual([
      { from: '0', to: '1', contributor: unknown },
      { from: '1', to: '2', contributor: ai },
      { from: '2', to: '3', contributor: unknown },
      { from: '3', to: '4', contributor: ai },
      { from: '4', to: '5', contributor: unknown },
    ]);
  });

  it('that were lost with a sandbox are none', () => {
    const events = [start, commit('0', null), write('a'), commit('1', '0', 'a'), commit('2', '1')];
    events.push(write('b'), commit('3', '1', 'b'));
    expect(tracedSteps(events)).toEqual([{ from: '0', to: '3', contributor: ai }]);
  });

  it('are not known of a session that continues another one', () => {
    const fork = event('fork', { session: 's', seq: 4 }, { source: 'server' });
    const events = [start, commit('0', null), write('a'), commit('1', '0', 'a')];
    const later = [commit('5', null), write('b'), commit('6', '5', 'b')];
    expect(tracedSteps([...events, fork, ...later])).toEqual([]);
    expect(tracedSteps([start, fork, ...later])).toHaveLength(1);
  });
});
