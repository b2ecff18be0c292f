import { conflictsIn, mergeTexts } from './merge';

describe('mergeTexts', () => {
  it('takes the changes of either side', () => {
    const merged = mergeTexts('a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\ne\n');
    expect(merged).toEqual({ text: 'A\nb\nc\nD\ne\n', conflicts: 0 });
  });

  it('takes identical changes of both sides once', () =>
    expect(mergeTexts('a\n', 'b\n', 'b\n')).toEqual({ text: 'b\n', conflicts: 0 }));

  it('marks conflicts, and counts them until they are resolved', () => {
    const { text, conflicts } = mergeTexts('a\nb\n', 'mine\nb\n', 'theirs\nb\n');
    expect(text).toBe('<<<<<<< mine\nmine\n=======\ntheirs\n>>>>>>> theirs\nb\n');
    expect([conflicts, conflictsIn(text), conflictsIn('mine\nb\n')]).toEqual([1, 1, 0]);
  });

  it('keeps the line endings of my text', () =>
    expect(mergeTexts('a\r\nb\r\n', 'A\r\nb\r\n', 'a\nb\nc\n').text).toBe('A\r\nb\r\nc\r\n'));
});
