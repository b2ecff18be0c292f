import { z } from 'zod';
import { assetTable } from '../asset-table.js';
import { assetText } from '../asset-text.js';
import type { Entry } from '../entries.js';

/**
 * Tests that must fail, appended to a test file for the second run of a pass. If one passes, the
 * tested code has changed how tests are judged. Their names contain the word of that run. The last
 * one for Python and for JavaScript must pass instead, and only fails if a value of the tested code
 * claims to equal everything.
 */
export interface Decoys {
  count: number;
  /** A part of the names of tests that must pass. */
  honest: string | null;
  text(word: string): string;
}

/** The runner that the tests are written for, or a language with one runner. */
export const decoyKind = z.enum([
  'python',
  // For runners of plain functions, such as SymPy’s.
  'functions',
  'unittest',
  // A received value may be an asymmetric matcher, and Jest lets it decide about equality.
  'jest',
  'junit',
  'catch2',
  'go',
  'rust',
  'jasmine',
  'mocha',
  // For runners in a page, whatever test functions and assertions they have, and for older
  // browsers.
  'browser',
  // Expects a token that no grammar produces from this text.
  'prism',
  // The comparisons that hidden tests use.
  'console',
]);
export type DecoyKind = z.infer<typeof decoyKind>;

/** In `files`, a line `{name}` stands for all tests of that name, or for the asset of that name. */
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
    const name = line.slice(1, -1);
    const group = tests[name];
    if (line === `{${name}}` && name.endsWith('.py')) return { count: 0, text: assetText(name) };
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

/** Appends decoys to a test file. */
export const withDecoys = ({ text }: Decoys, word: string, test: Entry): Entry => ({
  ...test,
  bytes: Buffer.concat([test.bytes, Buffer.from(text(word))]),
});
