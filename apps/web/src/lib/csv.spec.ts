import { csvRows } from './csv';

describe('csvRows', () => {
  it.each([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a;b\r\n"1;x";"say ""hi""\nagain"',
      [
        ['a', 'b'],
        ['1;x', 'say "hi"\nagain'],
      ],
    ],
    [
      'a\tb,c\n1\t',
      [
        ['a', 'b,c'],
        ['1', ''],
      ],
    ],
    ['', []],
  ])('reads %j', (text, rows) => expect(csvRows(text, 100)).toEqual(rows));

  it('reads no more rows than requested', () =>
    expect(csvRows('a\nb\nc\n', 2)).toEqual([['a'], ['b']]));
});
