import { createHash } from 'node:crypto';
import { applyEdit } from './apply-edit';

const versionOf = (text: string) =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex')
    .slice(0, 16);
const edit = (after: string, line: number, removed: number, content: readonly string[]) => ({
  path: 'a',
  change: 'REPLACE' as const,
  line,
  removed,
  content: [...content],
  truncated: false,
  version: versionOf(after),
});
const apply = async (before: string, ...args: Parameters<typeof edit>) =>
  (await applyEdit({ text: before, version: 'before' }, edit(...args)))?.text;

describe('an edit that lands in a shown file', () => {
  it.each<[string, string, [number, number, string[]]]>([
    ['a\nb\n', 'a\nä\nb\n', [2, 0, ['ä']]],
    ['a\nb\nc\n', 'a\nc\n', [2, 1, []]],
    ['a\nb', 'a\nc', [2, 1, ['c']]],
    ['a\nb', 'a\nb\nc', [3, 0, ['c']]],
    ['a\r\nb\r\n', 'a\r\nc\r\nd\r\n', [2, 1, ['c', 'd']]],
    ['', 'one\n', [1, 0, ['one']]],
    ['a\n', '', [1, 1, []]],
    ['a\nb\n', 'a\nb', [2, 1, ['b']]],
  ])('turns %j into %j', async (before, after, change) => {
    expect(await apply(before, after, ...change)).toBe(after);
  });

  it('is not applied to another text, if truncated, or without a version', async () => {
    expect(await apply('x\nb\n', 'a\nc\n', 2, 1, ['c'])).toBeUndefined();
    const shown = { text: 'a\n', version: 'v' };
    const one = edit('b\n', 1, 1, ['b']);
    expect(await applyEdit(shown, { ...one, truncated: true })).toBeUndefined();
    const { version: _, ...without } = one;
    expect(await applyEdit(shown, without)).toBeUndefined();
    expect(await applyEdit({ ...shown, version: one.version }, one)).toEqual({
      text: 'a\n',
      version: one.version,
    });
  });
});
