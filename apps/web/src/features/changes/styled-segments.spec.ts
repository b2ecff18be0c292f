import { highlight } from './highlight';
import { styledSegments } from './styled-segments';
import { syntaxLanguage, syntaxKinds } from './syntax';

const named = (text: string, ...rest: [Uint32Array?, { text: string; changed: boolean }[]?]) =>
  styledSegments(text, ...rest).map(
    ({ text: part, kind, changed }) => `${part}|${syntaxKinds[kind]}${changed ? '|changed' : ''}`,
  );

describe('the colours of a line', () => {
  it('follow its language, also in comments of several lines', () => {
    const { starts, runs } = highlight('typescript', "/* a\n b */ const s = 'x';\n\nlet n = 1;");
    const line = (text: string, index: number) =>
      named(text, runs.subarray(starts[index], starts[index + 1]));
    expect(line('/* a', 0)).toEqual(['/* a|comment']);
    expect(line(" b */ const s = 'x';", 1)).toEqual([
      ' b */|comment',
      ' |plain',
      'const|keyword',
      ' s = |plain',
      "'x'|string",
      ';|plain',
    ]);
    expect(line('', 2)).toEqual([]);
    expect(line('let n = 1;', 3)).toContain('1|number');
  });

  it('are split where words differ', () =>
    expect(
      named('ab cd', Uint32Array.of(2, 1, 1, 0, 2, 2), [
        { text: 'a', changed: false },
        { text: 'b c', changed: true },
        { text: 'd', changed: false },
      ]),
    ).toEqual([
      'a|keyword',
      'b|keyword|changed',
      ' |plain|changed',
      'c|string|changed',
      'd|string',
    ]));

  it('are plain where there are no runs', () => {
    expect(named('ab cd')).toEqual(['ab cd|plain']);
    expect(named('ab cd', Uint32Array.of(2, 1))).toEqual(['ab|keyword', ' cd|plain']);
  });
});

describe('syntaxLanguage', () => {
  it('depends on the extension, or on the whole name', () =>
    expect(['a/b.test.TS', 'Makefile', 'x/Gemfile', 'a.txt', 'README'].map(syntaxLanguage)).toEqual(
      ['typescript', 'makefile', 'ruby', undefined, undefined],
    ));
});
