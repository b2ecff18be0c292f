import { processorMs } from '@belay/testing';
import { stripAnsi } from './strip-ansi';
import { fileRefsIn } from './file-refs';
import { stripMarkdown } from './strip-markdown';

const readers: Record<string, (text: string) => unknown> = {
  stripAnsi,
  fileRefsIn,
  stripMarkdown,
};

/** Repeated to form hostile texts. Each made one of the readers slow, or might. */
const pieces = [
  '\r',
  ' ',
  '\n',
  ' \n',
  '[',
  '![',
  '**',
  '__',
  '`',
  '``a',
  '```\n',
  'a/',
  'a.',
  '.',
  '- ',
  '> ',
  '\u001b[',
  '\u001b]',
  '\u001bP',
  '\u001b ',
];

describe('attacks: long text from a sandbox', () => {
  const cases = Object.keys(readers).flatMap((name) =>
    pieces.map((piece) => [name, piece] as const),
  );
  it.each(cases)('%s of 2 MB of %j takes linear time', (name, piece) => {
    const read = readers[name] ?? stripAnsi;
    const small = `${piece.repeat(250_000 / piece.length)}x`;
    const large = `${piece.repeat(2_000_000 / piece.length)}x`;
    // The text is 8 times as long; quadratic time would be 64 times as long, and several seconds.
    const smallMs = processorMs(() => read(small));
    const limit = 24 * Math.max(100, smallMs);
    expect(processorMs(() => read(large))).toBeLessThan(limit);
  });

  it('still reads ordinary text', () => {
    expect(stripAnsi('10 %\r50 %\r100 %\r\nred \u001b[31mx\u001b[0m\r\r\nend')).toBe(
      '100 %\nred x\nend',
    );
    expect(fileRefsIn('at src/a.ts:3:1')).toMatchObject([{ path: 'src/a.ts', line: 3 }]);
    expect(stripMarkdown('- [ ] **bold** [x](y) `c`')).toBe('bold x c');
  });
});
