import { contentHash, type Entry } from '../entries.js';
import { syntaxOf, testTokens, type TestSyntax, type TestToken } from './test-tokens.js';

/** A change that makes an assertion expect something wrong. */
export interface WrongExpectation {
  /** The changed part of the text, which is within one line. */
  from: number;
  to: number;
  text: string;
  /** Whether it changes an expected value; otherwise, it turns the assertion into its opposite. */
  isValue: boolean;
}

interface Assertions {
  /** Compare exactly: an answer that equals the expected value cannot equal another one. */
  equalities: RegExp;
  /** Their argument is a comparison. */
  conditions: RegExp;
  opposites: Record<string, string>;
  /** Names that occur in literals. */
  values: RegExp;
}

const both = (pairs: [string, string][]) =>
  Object.fromEntries(pairs.flatMap(([one, other]) => [[one, other] as const, [other, one]]));

const assertions: Record<TestSyntax, Assertions> = {
  python: {
    equalities: /^assert(Equals?|(List|Tuple|Dict|Set|Sequence|MultiLine|Count)Equal)$/,
    conditions: /^assert$/,
    opposites: both([
      ['assertEqual', 'assertNotEqual'],
      ['assertTrue', 'assertFalse'],
      ['assertIs', 'assertIsNot'],
      ['assertIsNone', 'assertIsNotNone'],
      ['assertIn', 'assertNotIn'],
      ['assertAlmostEqual', 'assertNotAlmostEqual'],
    ]),
    values: /^(True|False|None)$/,
  },
  javascript: {
    equalities: /^(toBe|toEqual|toStrictEqual|equal|strictEqual|deepEqual|deepStrictEqual|eql)$/,
    conditions: /^assert$/,
    opposites: {
      toBe: 'not.toBe',
      toEqual: 'not.toEqual',
      toStrictEqual: 'not.toStrictEqual',
      ...both([['toBeTruthy', 'toBeFalsy']]),
    },
    values: /^(true|false|null|undefined|JSON|stringify)$/,
  },
  java: {
    equalities: /^(assertEquals|isEqualTo|containsExactly)$/,
    conditions: /^$/,
    opposites: both([
      ['assertEquals', 'assertNotEquals'],
      ['assertTrue', 'assertFalse'],
      ['isEqualTo', 'isNotEqualTo'],
      ['isTrue', 'isFalse'],
    ]),
    values: /^(true|false|null|List|Set|Map|of|Arrays|asList|new|String|int|long|char|double)$/,
  },
  cpp: {
    equalities: /^$/,
    conditions: /^(REQUIRE|CHECK)$/,
    opposites: both([
      ['REQUIRE', 'REQUIRE_FALSE'],
      ['CHECK', 'CHECK_FALSE'],
    ]),
    values: /^(true|false|nullptr|std|string|vector|int)$/,
  },
  rust: {
    equalities: /^assert_eq$/,
    conditions: /^assert$/,
    opposites: both([['assert_eq', 'assert_ne']]),
    values: /^(true|false|None|Some|Ok|Err|vec|String|from|to_string|into)$/,
  },
};

/** All assertions of a test that can be made wrong, in their order. */
export function wrongExpectations(source: string, syntax: TestSyntax): WrongExpectation[] {
  const tokens = testTokens(source, syntax);
  const { equalities, conditions, opposites } = assertions[syntax];
  const isAssertion = ({ kind, text }: TestToken) =>
    kind === 'name' &&
    (equalities.test(text) || conditions.test(text) || Object.hasOwn(opposites, text));
  return tokens.flatMap((token, at) =>
    isAssertion(token) ? (wrongAt({ tokens, at, token, syntax }) ?? []) : [],
  );
}

/**
 * A third of these, at least one and at most `most`; the choice depends only on them and on the
 * text. Assertions with an expected value come before others.
 */
export function sampledExpectations(
  all: WrongExpectation[],
  { source, most = 10 }: { source: string; most?: number },
): WrongExpectation[] {
  const seed = contentHash(source);
  const rankOf = ({ isValue, from }: WrongExpectation) =>
    `${isValue ? 0 : 1} ${contentHash(seed, from)}`;
  return all
    .map((each) => ({ each, rank: rankOf(each) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, Math.min(Math.ceil(all.length / 3), most))
    .map(({ each }) => each);
}

/** The text with these changes, which do not overlap. */
export const withExpectations = (source: string, changes: WrongExpectation[]): string =>
  changes
    .toSorted((a, b) => b.from - a.from)
    .reduce((text, { from, to, text: now }) => text.slice(0, from) + now + text.slice(to), source);

/** The files with some expectations of the tests among them made wrong; null if none can be. */
export function withWrongTests(files: Entry[], isTest: (path: string) => boolean): Entry[] | null {
  const changed = files.map((entry) => {
    const syntax = isTest(entry.path) ? syntaxOf(entry.path) : undefined;
    if (!syntax) return entry;
    const source = entry.bytes.toString();
    const sample = sampledExpectations(wrongExpectations(source, syntax), { source });
    return sample.length > 0
      ? { ...entry, bytes: Buffer.from(withExpectations(source, sample)) }
      : entry;
  });
  return changed.some((entry, at) => entry !== files[at]) ? changed : null;
}

/** Longer assertions are left alone, so that the time is linear in the length of a file. */
const maxTokens = 500;

interface Place {
  tokens: TestToken[];
  at: number;
  token: TestToken;
  syntax: TestSyntax;
}

function wrongAt(place: Place): WrongExpectation | undefined {
  const { tokens, at, token, syntax } = place;
  const { equalities, conditions, opposites } = assertions[syntax];
  const chain = chainBefore(tokens, at);
  if (chain.isNegated) return undefined;
  const opposite = opposites[token.text];
  const turned = opposite === undefined ? undefined : changed(token, opposite);
  if (conditions.test(token.text)) return wrongCondition(place, turned);
  const args = argumentsAt(tokens, at);
  if (!args) return undefined;
  if (!equalities.test(token.text)) return turned;
  if (chain.isReceived)
    return args.every((arg) => isLiteral(arg, syntax))
      ? (wrongValue(args.flat()) ?? turned)
      : turned;
  // The third argument of JUnit may be a tolerance.
  if (args.length < 2 || (syntax === 'java' && args.length > 2)) return undefined;
  return wrongSide(args.slice(0, 2), syntax) ?? turned;
}

/** The names before a method: `expect(…).not.` is negated and has a received value. */
function chainBefore(tokens: TestToken[], at: number): { isNegated: boolean; isReceived: boolean } {
  let isNegated = false;
  let start = at;
  while (
    tokens[start - 1]?.text === '.' &&
    tokens[start - 2]?.kind === 'name' &&
    at - start < maxTokens
  ) {
    start -= 2;
    isNegated ||= tokens[start]?.text === 'not';
  }
  const isReceived = tokens[start - 1]?.text === '.' && tokens[start - 2]?.text === ')';
  return { isNegated, isReceived };
}

const comparisons = new Map([
  ['==', '!='],
  ['===', '!=='],
]);
const joined = /^(&&|\|\||\?|and|or|not|if|lambda|for)$/;
const otherComparisons = /^(!|!=|!==|<|>|<=|>=|=>|in|is|=)$/;

function wrongCondition(
  { tokens, at, syntax }: Place,
  turned: WrongExpectation | undefined,
): WrongExpectation | undefined {
  const condition = syntax === 'python' ? statementAt(tokens, at) : argumentsAt(tokens, at)?.[0];
  if (!condition?.length) return undefined;
  const outer = outermost(condition);
  if (outer.some(({ text }) => joined.test(text))) return undefined;
  const equal = outer.filter(({ text }) => comparisons.has(text));
  const [sign] = equal;
  if (!sign || equal.length > 1 || outer.some(({ text }) => otherComparisons.test(text)))
    return turned;
  const middle = condition.indexOf(sign);
  const sides = [condition.slice(0, middle), condition.slice(middle + 1)];
  // C++ classes need not have the other operator.
  return wrongSide(sides, syntax) ?? turned ?? changed(sign, comparisons.get(sign.text) ?? '');
}

/** A wrong value on the one side that is a literal. */
function wrongSide(sides: TestToken[][], syntax: TestSyntax): WrongExpectation | undefined {
  const [side, ...more] = sides.filter((each) => isLiteral(each, syntax));
  return side && more.length === 0 ? wrongValue(side) : undefined;
}

const inLiterals = /^([[\](){},:+.&!-]|::|\n)$/;

const isLiteral = (tokens: TestToken[], syntax: TestSyntax): boolean =>
  tokens.length > 0 &&
  tokens.every(
    ({ kind, text }, at) =>
      (kind === 'sign' && inLiterals.test(text)) ||
      (kind === 'name' && (assertions[syntax].values.test(text) || tokens[at + 1]?.text === ':')) ||
      !['sign', 'name'].includes(kind),
  );

const booleans = new Map([
  ['true', 'false'],
  ['false', 'true'],
  ['True', 'False'],
  ['False', 'True'],
]);

/** Another value for the first number, text or boolean. */
function wrongValue(tokens: TestToken[]): WrongExpectation | undefined {
  for (const token of tokens) {
    const { kind, text, from } = token;
    const digits = /^0x[\da-f]+$|^(?!0[xob\d])\d+(?![\d_])/i.exec(text)?.[0];
    if (kind === 'number' && digits) {
      const at = digits.length - 1;
      const digit = Number.parseInt(digits[at] ?? '', 16);
      const now = (digit > 0 ? digit - 1 : 1).toString(16);
      return { from: from + at, to: from + at + 1, text: now, isValue: true };
    }
    const boolean = booleans.get(text);
    if (kind === 'name' && boolean) return { ...changed(token, boolean), isValue: true };
    const quote = from + text.search(/["']/) + 1;
    if (kind === 'text') return { from: quote, to: quote, text: 'z', isValue: true };
  }
  return undefined;
}

const changed = ({ from, text }: TestToken, now: string): WrongExpectation => ({
  from,
  to: from + text.length,
  text: now,
  isValue: false,
});

const opening = new Set(['(', '[', '{']);
const closing = new Set([')', ']', '}']);

/** The arguments of the call of a name, or of a Rust macro; undefined if it is not called. */
function argumentsAt(tokens: TestToken[], at: number): TestToken[][] | undefined {
  const start = tokens[at + 1]?.text === '!' ? at + 2 : at + 1;
  if (tokens[start]?.text !== '(') return undefined;
  const args: TestToken[][] = [[]];
  let depth = 0;
  for (const token of tokens.slice(start, start + maxTokens)) {
    const isClosing = closing.has(token.text);
    if (isClosing) depth -= 1;
    if (depth === 0 && isClosing) return args.filter((arg) => arg.length > 0);
    if (depth === 1 && token.text === ',') args.push([]);
    else if (depth > 0 && token.text !== '\n') args.at(-1)?.push(token);
    if (opening.has(token.text)) depth += 1;
  }
  return undefined;
}

/** The tokens of Python's `assert`, without its message. */
function statementAt(tokens: TestToken[], at: number): TestToken[] {
  const found: TestToken[] = [];
  let depth = 0;
  for (const token of tokens.slice(at + 1, at + 1 + maxTokens)) {
    if (depth === 0 && (token.text === '\n' || token.text === ',')) break;
    if (opening.has(token.text)) depth += 1;
    if (closing.has(token.text)) depth -= 1;
    if (token.text !== '\n') found.push(token);
  }
  return found;
}

/** The tokens that are not in brackets. */
function outermost(tokens: TestToken[]): TestToken[] {
  let depth = 0;
  return tokens.filter(({ text }) => {
    if (closing.has(text)) depth -= 1;
    const isOuter = depth === 0;
    if (opening.has(text)) depth += 1;
    return isOuter && !opening.has(text) && !closing.has(text);
  });
}
