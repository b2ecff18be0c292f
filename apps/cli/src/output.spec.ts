import { visibleText } from '@belay/protocol';
import { headLines, singleLine, tailLines } from './output.js';

describe('text of an agent', () => {
  it('cannot hide a part of a command', () => {
    expect(headLines('rm -rf ~\recho hello', 40, Infinity)).toEqual(['rm -rf ~␍echo hello']);
    expect(headLines('echo a\b\b\u001b[8mb', 40, Infinity)).toEqual(['echo a␈␈␛[8mb']);
    expect(visibleText('a\u202eb\u0085c')).toBe('a<U+202E>b<U+0085>c');
    expect(singleLine(' a\r\nb\u0007 ')).toBe('a b␇');
  });

  it('is cut with a word about what is left out', () => {
    expect(headLines('\na\nb\nc\n', 2, 10)).toEqual(['a', 'b', '… 1 more line']);
    expect(headLines('abcdef', 2, 4)).toEqual(['abc…']);
    expect(headLines(' \n', 2, 4)).toEqual([]);
  });

  it('shows the end of an output, and of a progress bar its last state', () => {
    expect(tailLines('a\r\nb\r\n 10 %\r 90 %\r100 %\nc\n', 3, 40)).toEqual([
      '… 1 line before',
      'b',
      '100 %',
      'c',
    ]);
    expect(tailLines('', 3, 40)).toEqual([]);
  });
});
