/** The kinds of code with a colour each; the kinds in `Runs` are indices in this list. */
export const syntaxKinds = [
  'plain',
  'keyword',
  'string',
  'comment',
  'number',
  'title',
  'type',
  'attribute',
] as const;

/** The syntax of one line: alternating lengths, in UTF-16 code units, and kinds. */
export type Runs = Uint32Array;

/** A text’s runs: those of line `n`, from 0, are from `starts[n]` up to `starts[n + 1]`. */
export interface Highlighted {
  starts: Uint32Array;
  runs: Uint32Array;
}

export interface HighlightRequest {
  id: number;
  language: string;
  texts: string[];
}

export interface HighlightReply {
  id: number;
  texts: Highlighted[];
}

const byEnding: Record<string, string> = {
  bash: 'bash sh zsh',
  c: 'c h',
  cpp: 'cpp cc cxx hpp hh hxx',
  csharp: 'cs',
  css: 'css',
  diff: 'diff patch',
  go: 'go',
  graphql: 'graphql gql',
  ini: 'ini toml cfg conf properties',
  java: 'java',
  javascript: 'js jsx mjs cjs',
  json: 'json jsonc json5',
  kotlin: 'kt kts',
  less: 'less',
  lua: 'lua',
  makefile: 'mk makefile',
  markdown: 'md markdown mdx',
  objectivec: 'm mm',
  perl: 'pl pm',
  php: 'php',
  python: 'py pyi pyw',
  r: 'r',
  ruby: 'rb rake gemspec gemfile rakefile',
  rust: 'rs',
  scss: 'scss',
  sql: 'sql',
  swift: 'swift',
  typescript: 'ts tsx mts cts',
  vbnet: 'vb',
  xml: 'xml html htm xhtml svg vue svelte',
  yaml: 'yaml yml',
};
const languages = new Map(
  Object.entries(byEnding).flatMap(([language, endings]) =>
    endings.split(' ').map((ending) => [ending, language] as const),
  ),
);

/** The language of a file according to its name; undefined if it is unknown. */
export function syntaxLanguage(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return languages.get(name.slice(name.lastIndexOf('.') + 1));
}
