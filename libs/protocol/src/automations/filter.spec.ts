import fc from 'fast-check';
import { processorMs } from '@belay/testing';
import { AppError } from '../errors.js';
import { eventFields } from './automation-events.js';
import { matchesFilter, parseFilter, type FilterFields } from './filter.js';

const fields = eventFields['pull.labelled'];
const values = {
  user: 'ada',
  number: 12,
  title: 'Fix the login',
  author: 'lin',
  labels: ['bug', 'belay'],
  label: 'belay',
  branch: 'release/1.2',
  base: 'main',
  sha: 'a'.repeat(40),
  draft: false,
};

const holds = (text: string, of: object = values, known: FilterFields = fields): boolean =>
  matchesFilter(parseFilter(text, known), of as Record<string, unknown>);

function faultIn(text: string, known: FilterFields = fields): string {
  try {
    parseFilter(text, known, 'pull.labelled');
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_input') return error.message;
    throw error;
  }
  throw new Error(`${text} was read without a fault.`);
}

describe('a condition', () => {
  it.each([
    [`branch == 'release/1.2'`, `branch == 'main'`],
    [`branch != "main"`, `branch != 'release/1.2'`],
    ['number > 11 && number <= 12', 'number < 12 || number >= 13'],
    [`label in ['belay', 'x']`, `label in ['x']`],
    ['number in [1, 12]', 'number in [-12, 1.2]'],
    [`'bug' in labels`, `'bugs' in labels`],
    [`labels contains 'bug'`, `labels contains 'bu'`],
    [`title contains 'login'`, `title contains 'Login'`],
    [`branch startsWith 'release/'`, `branch startsWith '/'`],
    [`branch endsWith '.2'`, `branch endsWith '.'`],
    [`branch glob 'release/*'`, `branch glob '*'`],
    [`branch glob '**'`, `branch glob 'release'`],
    ['!draft', 'draft'],
    ['draft == false', 'draft != false'],
    ['user != author', 'user == author'],
    [`!(user == 'x') && !draft`, `!(user == 'ada') || draft`],
    // && binds more strongly than ||.
    [`number == 12 || draft && draft`, `(number == 12 || draft) && draft`],
    [String.raw`title != 'it\'s \\'`, String.raw`title == 'Fix\'s'`],
    ['true', 'false'],
  ])('holds: %s; does not: %s', (yes, no) => {
    expect([holds(yes), holds(no)]).toEqual([true, false]);
  });

  it('is false where a value is missing', () => {
    for (const text of [
      `branch == 'x'`,
      `branch != 'x'`,
      `branch glob '**'`,
      'number < 5',
      'draft',
    ])
      expect(holds(text, { branch: null })).toBe(false);
    expect(holds(`user == 'ada' || branch == 'x'`, { user: 'ada' })).toBe(true);
  });

  it('reads the paths of a JSON object, without types', () => {
    const sent = { alert: { severity: 'critical', count: 3, tags: ['db'] }, ok: true, 'a-b': 1 };
    for (const text of [
      `alert.severity == 'critical' && alert.count > 2`,
      `alert.tags contains 'db' && ok`,
      `'db' in alert.tags`,
      'a-b == 1',
    ])
      expect(holds(text, sent, null)).toBe(true);
    for (const text of [
      `alert.severity > 2`,
      `alert.none.deeper == 1`,
      'alert',
      `alert.severity.length == 8`,
      `constructor.name == 'Object'`,
      `__proto__ != 'x'`,
    ])
      expect(holds(text, sent, null)).toBe(false);
  });
});

describe('a fault of a condition', () => {
  it.each([
    [
      `titel == 'x'`,
      'character 1: pull.labelled has no field titel; it has author, base, branch, draft, label, labels, number, sha, title, user',
    ],
    [`user == 'ada' && constructor`, /^character 18: pull.labelled has no field constructor/],
    ['user', 'character 1: user is text: compare it with something'],
    ['number == "1"', 'character 8: == needs a number here, and "1" is text'],
    ['branch > 3', 'character 8: > needs a number here, and branch is text'],
    [`labels == 'bug'`, 'character 8: a list is not compared by ==: use in or contains'],
    [`number in ['1']`, 'character 8: in needs text here, and number is a number'],
    [`user = 'ada'`, 'character 6: write == to compare'],
    [`user == 'ada`, 'character 9: the quote is not closed'],
    [`draft & draft`, 'character 7: write && for “and”'],
    ['draft draft', 'character 7: “draft” is not expected here: join conditions by && or ||'],
    ['(draft', 'character 7: “)” is missing'],
    ['draft &&', 'character 9: it ends where a field or a value is expected'],
    ['', 'character 1: it ends where a field or a value is expected'],
    [`user in []`, 'character 9: a list has at least one value'],
    [`user in ['a', 1]`, 'character 15: a list has either texts or numbers'],
    [`branch glob base`, 'character 8: glob needs a pattern in quotes'],
    [`user == 'a' == 'b'`, 'character 13: == compares fields and values, not conditions'],
    ['user.matches("x")', /no field user.matches/],
    [`${'('.repeat(17)}draft${')'.repeat(17)}`, 'character 17: it is nested deeper than 16 levels'],
    [`user == '${'a'.repeat(500)}'`, 'character 501: a condition has at most 500 characters'],
  ])('%s', (text, message) => {
    const found = faultIn(text);
    if (typeof message === 'string') expect(found).toBe(message);
    else expect(found).toMatch(message);
  });

  it('is nothing of what is nested as deep as it may be', () => {
    expect(holds(`${'('.repeat(15)}!draft${')'.repeat(15)}`.slice(1, -1))).toBe(true);
  });
});

const languageWords = [
  ' ',
  '\u0000',
  ..."user number draft labels x.y 'a' 1 -1.5 true 𝒳 .".split(' '),
  ...String.raw`" ' \ ! ( ) [ ] , == != < in glob && ||`.split(' '),
];

/** Text of the language’s own words, which reaches deeper than any text would. */
const wordsOfIt = fc
  .array(fc.constantFrom(...languageWords), { maxLength: 80 })
  .map((words) => words.join(' ').slice(0, 500));

describe('any text', () => {
  it('is read, or refused as invalid input at a character that it has', () => {
    fc.assert(
      fc.property(
        fc.oneof(wordsOfIt, fc.string({ unit: 'binary' })),
        fc.boolean(),
        (text, typed) => {
          try {
            const filter = parseFilter(text, typed ? fields : null);
            expect(typeof matchesFilter(filter, values)).toBe('boolean');
            expect(typeof matchesFilter(filter, {})).toBe('boolean');
          } catch (error) {
            if (!(error instanceof AppError)) throw error;
            expect(error.code).toBe('invalid_input');
            const position = Number(error.details?.['position']);
            expect(position).toBeGreaterThanOrEqual(1);
            expect(position).toBeLessThanOrEqual(text.length + 1);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('is decided as by the program’s own operators', () => {
    const leaf = fc.constantFrom<[string, boolean]>(
      ['draft', false],
      ['number == 12', true],
      [`user == 'x'`, false],
      [`labels contains 'bug'`, true],
    );
    const { tree } = fc.letrec<{ tree: [string, boolean] }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', maxDepth: 4 },
        leaf,
        tie('tree').map(([text, is]): [string, boolean] => [`!(${text})`, !is]),
        fc
          .tuple(tie('tree'), tie('tree'))
          .map(([[a, isA], [b, isB]]): [string, boolean] => [`(${a} && ${b})`, isA && isB]),
        fc
          .tuple(tie('tree'), tie('tree'))
          .map(([[a, isA], [b, isB]]): [string, boolean] => [`(${a} || ${b})`, isA || isB]),
      ),
    }));
    fc.assert(
      fc.property(
        tree.filter(([text]) => text.length <= 500),
        ([text, is]) => expect(holds(text)).toBe(is),
      ),
    );
  });

  it('takes no longer for hostile values than the product of both lengths', () => {
    const pattern = `branch glob '${'*a'.repeat(200)}b'`;
    const took = processorMs(() => {
      expect(holds(pattern, { branch: 'a'.repeat(4_096) })).toBe(false);
      expect(holds(pattern, { branch: 'a'.repeat(1_000_000) })).toBe(false);
    });
    expect(took).toBeLessThan(5_000);
  });
});
