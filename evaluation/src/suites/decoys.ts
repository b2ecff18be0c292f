import { z } from 'zod';
import { assetTable } from '../asset-table.js';
import type { Entry } from '../entries.js';

/**
 * Tests that have to fail, put at the end of a file of tests for the second run of a pass: where one does not, the
 * tested code has changed how tests are judged. Their names hold the word of this run; the last of Python’s and of
 * JavaScript’s must pass, unless a value of the tested code claims to equal everything.
 */
export interface Decoys {
  count: number;
  /** In the names of tests that must pass. */
  honest: string | null;
  text(word: string): string;
}

/** What the tests are written for: a runner, or a language that has one. */
export const decoyKind = z.enum([
  'python',
  // For runners of functions, such as SymPy’s.
  'functions',
  'unittest',
  // A received value may be a matcher of its own, which Jest asks whether it equals what is expected.
  'jest',
  'junit',
  'catch2',
  'go',
  'rust',
  'jasmine',
  'mocha',
  // For runners in a page, whichever words and assertions they have; older browsers read them, too.
  'browser',
  // A token that no grammar makes of this text.
  'prism',
  // What hidden tests compare by.
  'console',
]);
export type DecoyKind = z.infer<typeof decoyKind>;

/** `files` are lines, of which `{name}` stands for all tests of that name. */
const table = assetTable(
  'decoys.json',
  z.object({
    tests: z.record(z.string(), z.object({ test: z.string(), bodies: z.array(z.string()) })),
    files: z.record(decoyKind, z.array(z.string())),
  }),
);

const honest = '_zz_honest';

export function decoysOf(kind: DecoyKind): Decoys {
  const { tests, files } = table();
  const parts = files[kind].map((line) => {
    const group = tests[line.slice(1, -1)];
    if (!group) return { count: 0, text: line };
    const all = group.bodies.map((body, index) =>
      group.test.replaceAll('{number}', String(index)).replace('{body}', () => body),
    );
    return { count: all.length, text: all.join('\n') };
  });
  const text = parts.map((part) => part.text).join('\n');
  return {
    count: parts.reduce((total, { count }) => total + count, 0),
    honest: text.includes(honest) ? honest : null,
    text: (word) => text.replaceAll('{word}', word),
  };
}

/** A file of tests with decoys at its end. */
export const withDecoys = ({ text }: Decoys, word: string, test: Entry): Entry => ({
  ...test,
  bytes: Buffer.concat([test.bytes, Buffer.from(text(word))]),
});
