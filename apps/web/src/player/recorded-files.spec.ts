import { newEvent } from '@belay/protocol';
import { logOf } from '@/testing/session-log';
import { RecordedFiles } from './recorded-files';

const commit = (id: string) =>
  newEvent('agent', 'commit', {
    args: { commit: id.repeat(40), parent: null, files: [] },
    message: id,
  });
const texts = ['listen(3000)\n', 'listen(process.env.PORT ?? 8080)\n', 'new\n'];
const recorded = new RecordedFiles({
  events: logOf(commit('a'), commit('b'), commit('c')),
  files: {
    // Changed by the second commit; the third is a rewind, and so has the first text again.
    'server.js': [
      { seq: 0, text: 0 },
      { seq: 2, text: 1 },
      { seq: 3, text: 0 },
    ],
    'new.js': [
      { seq: 0, text: null },
      { seq: 2, text: 2 },
      { seq: 3, text: null },
    ],
  },
  texts,
});
const at = (id: string) => id.repeat(40);

it('shows each file as the history had it, also after a rewind', () => {
  expect(recorded.textAt('server.js', at('a'))).toBe(texts[0]);
  expect(recorded.textAt('server.js', at('b'))).toBe(texts[1]);
  expect(recorded.textAt('server.js', null)).toBe(texts[0]);
  expect(recorded.textAt('new.js', at('b'))).toBe('new\n');
  expect(recorded.textAt('new.js', null)).toBeNull();
  expect(recorded.textAt('other', null)).toBeUndefined();
  expect(recorded.textAt('constructor', null)).toBeUndefined();
});

it('shows the changes of a step, of a moment and of the whole session alike', () => {
  expect(recorded.diff({})).toBe('');
  expect(recorded.diff({ to: at('b') })).toMatch(/new\.js[^]*\+new[^]*-listen\(3000\)/);
  expect(recorded.diff({ from: at('b'), to: at('c') })).toMatch(/-new[^]*\+listen\(3000\)/);
});
