import { printList, tableLines } from './print-list.js';

const printed = (items: readonly string[][], options: { json?: boolean } = {}): string => {
  const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    printList(items, options, { row: (item) => item, empty: 'None yet. Add one: belay add' });
    return write.mock.calls.map(([text]) => text).join('');
  } finally {
    write.mockRestore();
  }
};

describe('a list', () => {
  it('has one line for each item, in aligned columns', () => {
    expect(
      tableLines(
        [
          ['a1', 'running', '$0.10', 'Fix it'],
          ['b2', 'ended', '$12.00', ''],
        ],
        80,
        [2],
      ),
    ).toEqual(['a1  running   $0.10  Fix it', 'b2  ended    $12.00']);
  });

  it('attacks: has no line but ours, whatever a name contains', () => {
    const forged = 'host\nbig  container  connected\r\n\u2028\u001b[2J\u202e\u200b';
    const text = printed([
      ['real', forged],
      ['other', 'container'],
    ]);
    expect(text.split(/[\n\r\u2028]/)).toHaveLength(3);
    expect(text).toContain('host big container connected ␛[2J<U+202E><U+200B>');
  });

  it('aligns wide signs by the columns that they take', () => {
    const rows = [
      ['日本', 'one'],
      ['abcde', 'two'],
      ['e\u0301', 'three'],
    ];
    expect(tableLines(rows, 80)).toEqual(['日本   one', 'abcde  two', 'e\u0301      three']);
  });

  it('fits a narrow terminal: the widest cells are shortened, never the first', () => {
    const [line = ''] = tableLines([['an-id-of-a-session', 'x'.repeat(90), '日'.repeat(90)]], 60);
    expect(line).toBe(`an-id-of-a-session  ${'x'.repeat(18)}…  ${'日'.repeat(9)}…`);
    expect(tableLines([['an-id-of-a-session', 'x'.repeat(9)]], 10)).toEqual([
      'an-id-of-a-session  xxxxxxx…',
    ]);
  });

  it('keeps what others wrote on its line', () => {
    expect(tableLines([['a', 'two\nlines\u001b[2J']], 80)).toEqual(['a  two lines␛[2J']);
  });

  it('says what to do when it is empty, and is an array in JSON', () => {
    expect(printed([])).toBe('None yet. Add one: belay add\n');
    expect(printed([], { json: true })).toBe('[]\n');
    expect(printed([['a', 'b']], { json: true })).toBe('[["a","b"]]\n');
    expect(printed([['a', 'b']])).toBe('a  b\n');
  });
});
