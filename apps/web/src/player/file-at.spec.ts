/** @jest-environment node */
import type { Event } from '@belay/protocol';
import { fileAt } from './file-at';

const event = (seq: number, action: string, id: string, args: Record<string, unknown>): Event => ({
  seq,
  time: '2026-01-01T00:00:00Z',
  source: 'agent',
  action,
  args,
  message: '',
  id,
});
const edit = (
  seq: number,
  id: string,
  change: { line: number; removed: number; content: string[] },
) => event(seq, 'code', id, { path: 'a.txt', ...change });

const log = [
  edit(1, 'x', { line: 2, removed: 1, content: ['TWO', 'and a half'] }),
  event(2, 'commit', 'x', { commit: 'c1' }),
  edit(3, 'y', { line: 1, removed: 1, content: [] }),
  event(4, 'code', 'y', { path: 'other', line: 1, removed: 0, content: ['no'] }),
  event(5, 'commit', 'y', { commit: 'c2' }),
  edit(6, 'y', { line: 1, removed: 0, content: ['zero'] }),
];
const at = (commit: string | null) =>
  fileAt({ path: 'a.txt', base: 'one\ntwo\nthree', commit }, log).split('\n');

it('applies the edits up to the commit’s call to the base text', () => {
  expect(at('c1')).toEqual(['one', 'TWO', 'and a half', 'three']);
  expect(at('c2')).toEqual(['zero', 'TWO', 'and a half', 'three']);
});

it('returns the base text for the commit the session started from', () => {
  expect(at('c0')).toEqual(['one', 'two', 'three']);
});

it('returns the latest version without a commit', () => {
  expect(at(null)).toEqual(at('c2'));
});
