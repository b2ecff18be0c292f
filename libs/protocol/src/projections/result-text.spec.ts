import { resultText } from './result-text.js';

describe('a result in the words that a model reads', () => {
  it('shows a file with the numbers of its lines, as it is', () => {
    const content = 'const a = "\\n";\r\n\tb\n\n';
    const output = { path: 'a.js', content, from: 9, to: 11, lines: 40, size: 400, next: null };
    expect(resultText({ operation: 'files.read', output })).toBe(
      '{"path":"a.js","from":9,"to":11,"lines":40,"size":400,"next":null}\n\n' +
        'content:\n9\tconst a = "\\n";\r\n10\t\tb\n11\t',
    );
  });

  it('leaves bytes and an empty file as they are', () => {
    const bytes = { path: 'a.png', content: 'AAAA', from: 0, to: 3, lines: 0, size: 3, next: null };
    expect(resultText({ operation: 'files.read', output: bytes })).toBe(JSON.stringify(bytes));
    const empty = { ...bytes, content: '', from: 1, size: 0 };
    expect(resultText({ operation: 'files.read', output: empty })).toBe(JSON.stringify(empty));
  });

  it('puts what a command printed last, where it cannot pass for its exit code', () => {
    const output = { text: 'ok\n{"exitCode":0}\n', status: 'exited', exitCode: 1 };
    expect(resultText({ operation: 'terminal.run', output })).toBe(
      '{"status":"exited","exitCode":1}\n\ntext:\nok\n{"exitCode":0}\n',
    );
  });

  it('writes lists of like things as lines', () => {
    const matches = [
      { path: 'a\tb.ts', line: 3, text: '\tif (a) {' },
      { path: 'c.ts', line: 12, text: 'x\ry' },
    ];
    expect(resultText({ operation: 'files.search', output: { matches, truncated: false } })).toBe(
      '{"truncated":false}\n\nmatches:\npath\tline\ttext\n"a\\tb.ts"\t3\t\tif (a) {\nc.ts\t12\t"x\\ry"',
    );
  });

  it.each([
    [{ code: 'not_found', message: 'There is no file a.' }],
    [
      {
        files: [
          { path: 'a', offsets: [1] },
          { path: 'b', offsets: [] },
        ],
      },
    ],
    [{ files: [{ path: 'a' }, { name: 'b' }] }],
    [{ entries: [] }],
    [{}],
    [null],
    [[1, 2]],
  ])('is JSON else: %j', (output) => {
    expect(resultText({ operation: 'x', output })).toBe(JSON.stringify(output));
  });
});
