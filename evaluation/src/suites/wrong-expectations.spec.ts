import type { TestSyntax } from './test-tokens.js';
import { fileEntry } from '../entries.js';
import {
  sampledExpectations,
  withExpectations,
  withWrongTests,
  wrongExpectations,
} from './wrong-expectations.js';

/** The text with each of its changes alone. */
const changesOf = (source: string, syntax: TestSyntax) =>
  wrongExpectations(source, syntax).map((each) => withExpectations(source, [each]));

describe('a test that expects something wrong', () => {
  const rows: [TestSyntax, string, string][] = [
    ['python', 'self.assertEqual(f(4), 8)', 'self.assertEqual(f(4), 7)'],
    ['python', 'self.assertEqual("a", f("b"))', 'self.assertEqual("za", f("b"))'],
    ['python', 'self.assertEqual(f(), -1)', 'self.assertEqual(f(), -0)'],
    ['python', 'assert f(1) == [0x7F, 0x80]', 'assert f(1) == [0x7e, 0x80]'],
    ['python', 'self.assertEqual(f(1), expected)', 'self.assertNotEqual(f(1), expected)'],
    [
      'python',
      'self.assertListEqual(f(1), [10, 2], "why")',
      'self.assertListEqual(f(1), [11, 2], "why")',
    ],
    [
      'python',
      'self.assertEqual(\n  f(1),\n  {"a": 1},\n)',
      'self.assertEqual(\n  f(1),\n  {"za": 1},\n)',
    ],
    ['python', 'self.assertIs(f(1), True)', 'self.assertIsNot(f(1), True)'],
    ['python', 'self.assertTrue(f(1))', 'self.assertFalse(f(1))'],
    [
      'python',
      'self.assertAlmostEqual(f(1), 3.14, places=2)',
      'self.assertNotAlmostEqual(f(1), 3.14, places=2)',
    ],
    ['python', 'assert f(1) == 9, "assert f(1) == 9"', 'assert f(1) == 8, "assert f(1) == 9"'],
    ['python', "assert f(1) == (\n  'a'\n)\n", "assert f(1) == (\n  'za'\n)\n"],
    ['python', 'assert f(1) == expected', 'assert f(1) != expected'],
    ['javascript', 'expect(f(1)).toBe(3);', 'expect(f(1)).toBe(2);'],
    [
      'javascript',
      'expect(f(1)).toEqual([{ a: 0.5, b: `x` }]);',
      'expect(f(1)).toEqual([{ a: 1.5, b: `x` }]);',
    ],
    ['javascript', 'expect(f(/\'"/)).toBe(true);', 'expect(f(/\'"/)).toBe(false);'],
    ['javascript', 'expect(f(1)).toEqual(expected);', 'expect(f(1)).not.toEqual(expected);'],
    ['javascript', 'expect(f(1)).to.deep.equal(["a"]);', 'expect(f(1)).to.deep.equal(["za"]);'],
    [
      'javascript',
      "assert.strictEqual(f(1), 'x', 'why');",
      "assert.strictEqual(f(1), 'zx', 'why');",
    ],
    [
      'javascript',
      'console.assert(JSON.stringify(f([1])) === JSON.stringify([8]));',
      'console.assert(JSON.stringify(f([1])) === JSON.stringify([7]));',
    ],
    ['javascript', 'console.assert(f(1) === g(2))', 'console.assert(f(1) !== g(2))'],
    ['java', 'assertThat(f(4)).isEqualTo(8);', 'assertThat(f(4)).isEqualTo(7);'],
    ['java', 'assertEquals(10L, f());', 'assertEquals(11L, f());'],
    [
      'java',
      'assertThat(f()).containsExactly("a", "b");',
      'assertThat(f()).containsExactly("za", "b");',
    ],
    [
      'java',
      'assertThat(f()).isEqualTo(List.of(2, 3));',
      'assertThat(f()).isEqualTo(List.of(1, 3));',
    ],
    ['java', 'assertThat(f()).isTrue();', 'assertThat(f()).isFalse();'],
    ['cpp', 'REQUIRE(f(4) == 8);', 'REQUIRE(f(4) == 7);'],
    ['cpp', 'REQUIRE(expected == f(4));', 'REQUIRE_FALSE(expected == f(4));'],
    ['cpp', 'REQUIRE(f(\'a\') == "x");', 'REQUIRE(f(\'a\') == "zx");'],
    ['rust', 'assert_eq!(f(4), Some(8));', 'assert_eq!(f(4), Some(7));'],
    [
      'rust',
      "assert_eq!(f::<'a>(b'a'), \"x\".to_string());",
      "assert_eq!(f::<'a>(b'a'), \"zx\".to_string());",
    ],
    ['rust', 'assert_eq!(f(4), expected);', 'assert_ne!(f(4), expected);'],
  ];
  it.each(rows)('%s: %s', (syntax, source, changed) => {
    expect(changesOf(source, syntax)).toEqual([changed]);
  });

  it.each([
    ['python', '# assert f(1) == 8\ntext = "assert f(1) == 8"\n"""assert f(1) == 8"""'],
    ['python', 'assert 0 < f(1) < 8'],
    ['python', 'assert f(1) == 8 or g(1) == 9'],
    ['python', 'with self.assertRaises(ValueError): f(8)'],
    ['javascript', 'expect(f(1)).not.toBe(3);'],
    ['javascript', 'expect(f(1)).toBeCloseTo(3.1);'],
    ['javascript', 'console.assert(f(1) === 3 && g(1) === 4);'],
    ['javascript', '// expect(f(1)).toBe(3);\nconst text = "expect(f(1)).toBe(3);";'],
    ['java', 'assertEquals(1.5, f(), 0.1);'],
    ['cpp', 'CHECK(a == 1 && b);'],
  ] as [TestSyntax, string][])('%s: nothing in %s', (syntax, source) => {
    expect(changesOf(source, syntax)).toEqual([]);
  });

  it('a hostile text takes no longer than its length allows', () => {
    for (const part of ['(', 'assert ', 'expect(1).toBe(', '"', "'", '/', '`', '/*', 'a.'])
      expect(wrongExpectations(part.repeat(20_000), 'javascript')).toEqual([]);
  });
});

describe('the sample', () => {
  const source = Array.from({ length: 12 }, (_, at) => `assert f(${at}) == ${at + 20}\n`).join('');
  const all = wrongExpectations(source, 'python');

  it('is a third of the assertions, and always the same', () => {
    const sample = sampledExpectations(all, { source });
    expect(sample).toHaveLength(4);
    expect(sampledExpectations(all, { source })).toEqual(sample);
    expect(sampledExpectations(all, { source, most: 1 })).toEqual(sample.slice(0, 1));
  });

  it('depends on the text', () => {
    const samples = Array.from({ length: 8 }, (_, at) =>
      sampledExpectations(all, { source: `${source}#${at}` }).map(({ from }) => from),
    );
    expect(new Set(samples.map(String)).size).toBeGreaterThan(1);
  });

  it('prefers values to opposites', () => {
    const mixed = 'self.assertTrue(f(1))\nself.assertEqual(f(1), 8)\nself.assertTrue(f(2))\n';
    const found = wrongExpectations(mixed, 'python');
    expect(sampledExpectations(found, { source: mixed })).toEqual([found[1]]);
  });

  it('changes only tests, and is null without an expectation', () => {
    const files = ['test_a.py', 'b.py'].map((path) => fileEntry(path, 'assert f(1) == 8\n'));
    const isTest = (path: string) => path.startsWith('test_');
    expect(withWrongTests(files, isTest)?.map(({ bytes }) => bytes.toString())).toEqual([
      'assert f(1) == 7\n',
      'assert f(1) == 8\n',
    ]);
    expect(withWrongTests([fileEntry('test_a.py', 'pass\n')], isTest)).toBeNull();
    expect(withWrongTests([fileEntry('test_a.txt', 'assert f(1) == 8\n')], isTest)).toBeNull();
  });
});
