import { resultText } from './result-text.js';

describe('a result in the words that a model reads', () => {
  it('shows a file with the numbers of its lines, as it is', () => {
    const content = 'const a = "\\n";\r\n\tb\n\n';
    const output = { path: 'a.js', content, from: 9, to: 11, lines: 40, size: 400, next: null };
    expect(resultText({ operation: 'files.read', output })).toBe(
      '{"path":"a.js","lines":40}\n\n' + 'content:\n9\tconst a = "\\n";\r\n10\t\tb\n11\t',
    );
  });

  it('leaves bytes and an empty file as they are', () => {
    const bytes = { path: 'a.png', content: 'AAAA', from: 0, to: 3, lines: 0, size: 3, next: null };
    expect(resultText({ operation: 'files.read', output: bytes })).toBe(
      '{"path":"a.png","from":0,"to":3,"size":3,"lines":0,"content":"AAAA"}',
    );
    const empty = { ...bytes, content: '', from: 1, to: 0, size: 0 };
    expect(resultText({ operation: 'files.read', output: empty })).toContain('"content":""');
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
      'matches:\npath\tline\ttext\n"a\\tb.ts"\t3\t\tif (a) {\nc.ts\t12\t"x\\ry"',
    );
  });

  it('has no field that says nothing', () => {
    const run = {
      text: 'ok',
      omittedBytes: 0,
      from: 12,
      to: 14,
      terminal: 'main',
      status: 'exited',
      exitCode: 0,
      seconds: 0.123456,
      directory: '/workspace',
    };
    expect(resultText({ operation: 'terminal.run', output: run })).toBe(
      '{"status":"exited","exitCode":0,"directory":"/workspace","seconds":0.1,"text":"ok"}',
    );
    // What was left out is read from an offset, and a note stays.
    const long = { ...run, terminal: 'web', omittedBytes: 9, note: 'Look.' };
    expect(resultText({ operation: 'terminal.run', output: long })).toBe(
      '{"terminal":"web","status":"exited","exitCode":0,"directory":"/workspace","seconds":0.1,"omittedBytes":9,"from":12,"to":14,"text":"ok","note":"Look."}',
    );
  });

  it('shows an edit as its lines, and the result of a script as it is', () => {
    const edit = {
      path: 'a.js',
      size: 9,
      lines: 3,
      version: '0123456789abcdef',
      hunks: [{ at: 2, removed: 1, added: 1 }],
      now: '1\ta\n2\tb',
      shown: [{ from: 1, to: 2 }],
    };
    expect(resultText({ operation: 'files.edit', output: edit })).toBe(
      '{"path":"a.js","lines":3}\n\nnow:\n1\ta\n2\tb',
    );
    const value = '[{"text":"a","next":"b"}]';
    const page = { url: 'http://x/', title: '', text: 'x', truncated: false, notes: [], value };
    expect(resultText({ operation: 'browser.evaluate', output: page })).toBe(
      `{"url":"http://x/","title":"","text":"x"}\n\nvalue:\n${value}`,
    );
  });

  it('names files that were found by name, one a line', () => {
    const matches = ['a.ts', 'b/c.ts'].map((path) => ({ path, line: 0, text: '' }));
    expect(resultText({ operation: 'files.search', output: { matches, truncated: false } })).toBe(
      'files:\na.ts\nb/c.ts',
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
