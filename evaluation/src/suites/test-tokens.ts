/** The syntaxes whose tests can be read, by the extension of a file. */
export type TestSyntax = 'python' | 'javascript' | 'java' | 'cpp' | 'rust';

const extensions = new Map<string, TestSyntax>([
  ['py', 'python'],
  ['js', 'javascript'],
  ['cjs', 'javascript'],
  ['mjs', 'javascript'],
  ['jsx', 'javascript'],
  ['java', 'java'],
  ['cpp', 'cpp'],
  ['rs', 'rust'],
]);

export const syntaxOf = (path: string): TestSyntax | undefined =>
  extensions.get(/\.(\w+)$/.exec(path)?.[1] ?? '');

export interface TestToken {
  /** `opaque` is a literal that has no simple value, such as a regular expression. */
  kind: 'name' | 'number' | 'text' | 'opaque' | 'sign';
  text: string;
  from: number;
}

const text = String.raw`"(?:\\[^]|[^"\\\n])*"`;
const oneQuoted = String.raw`'(?:\\[^]|[^'\\\n])*'`;
const slashes = String.raw`\/\/.*|\/\*[^]*?\*\/`;
const number = String.raw`\d[\w.]*(?:(?<=[eE])[+-]\d+)?`;

/** What is skipped, and the literals, with the opaque ones first. */
const literals: Record<TestSyntax, { skipped: string; opaque: string; texts: string }> = {
  python: {
    skipped: String.raw`#.*|\\\n`,
    opaque: String.raw`[rbuRBUfF]{0,2}(?:"""[^]*?"""|'''[^]*?''')|[rR]?[fF][rR]?(?:${text}|${oneQuoted})`,
    texts: `[rbuRBU]{0,2}(?:${text}|${oneQuoted})`,
  },
  javascript: {
    skipped: slashes,
    // A slash begins a regular expression where no value can have ended.
    opaque: String.raw`\/(?<=(?:^|[(,=:[!&|?{};]|=>)\s*\/)(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*|${'`(?:\\\\[^]|[^`\\\\])*`'}`,
    texts: `${text}|${oneQuoted}`,
  },
  java: { skipped: slashes, opaque: `"""[^]*?"""|${oneQuoted}`, texts: text },
  cpp: { skipped: slashes, opaque: String.raw`R"\((?:[^]*?)\)"|${oneQuoted}`, texts: text },
  rust: {
    skipped: slashes,
    opaque: String.raw`r(?<hashes>#*)"[^]*?"\k<hashes>|b?'(?:\\[^']+|[^'\\])'`,
    texts: `b?${text}`,
  },
};

const signs = String.raw`===|!==|==|!=|<=|>=|=>|->|::|&&|\|\||[^\s\w]`;

const patternOf = ({ skipped, opaque, texts }: (typeof literals)[TestSyntax]) =>
  new RegExp(
    String.raw`(?<skipped>${skipped})|(?<opaque>${opaque})|(?<text>${texts})|(?<number>${number})|(?<name>[\p{L}_$][\p{L}\p{N}_$]*)|(?<sign>\n|${signs})`,
    'gu',
  );

const kinds = ['opaque', 'text', 'number', 'name', 'sign'] as const;

/**
 * The tokens of a test, without comments. Reads parts of a file as well, such as those in a patch:
 * what is not understood is a sign of one character.
 */
export function testTokens(source: string, syntax: TestSyntax): TestToken[] {
  const tokens: TestToken[] = [];
  for (const { groups = {}, index } of source.matchAll(patternOf(literals[syntax]))) {
    const kind = kinds.find((each) => groups[each] !== undefined);
    const found = kind && groups[kind];
    // Only Python ends statements with lines.
    if (!kind || !found || (found === '\n' && syntax !== 'python')) continue;
    tokens.push({ kind, text: found, from: index });
  }
  return tokens;
}
