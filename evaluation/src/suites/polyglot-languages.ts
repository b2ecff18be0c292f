import { z } from 'zod';
import { assetTable } from '../asset-table.js';
import { fileEntry, type Entry } from '../entries.js';
import { toolchainName, type Verifier } from '../model.js';
import { decoyKind, decoysOf, withDecoys } from './decoys.js';
import { inAnotherOrder, judgeSealed, sealFiles, seedOf } from './seal.js';
import { judgePrinted, goTests, rustTests } from './printed-tests.js';
import { judgeJunit } from './test-reports.js';

const language = z.object({
  toolchain: toolchainName,
  /** Enables tests that the exercise skips for beginners. */
  unskip: z.object({ from: z.string(), to: z.string() }).optional(),
  /** A folder that is collected as a whole, where solutions may add files; ends with a slash. */
  sources: z.string().optional(),
  /**
   * The reference's own manifest, with the packages that it needs, and the path of the one that it
   * replaces.
   */
  manifest: z.object({ example: z.string(), place: z.string() }).optional(),
  /** Links beside the tests, by path, with their targets. */
  links: z.record(z.string(), z.string()).default({}),
  /** `{tests}` stands for the names of the test files. */
  command: z.array(z.string()),
  env: z.record(z.string(), z.string()).default({}),
  judge: z.enum(['pytest', 'jest', 'junit', 'go', 'cargo']),
  /**
   * The path of the runner's report. It is random, so a report that the solution forges has another
   * path.
   */
  report: z.string().optional(),
  /** Tests that must fail, appended to a test file in the second run of a pass. */
  decoys: decoyKind,
  /** A separate file for them, in a language with one file per class. */
  decoyFile: z.string().optional(),
  /** Arguments that change the order of the tests in the second run. */
  reorder: z.array(z.string()).default([]),
});
export type Language = z.infer<typeof language>;

const table = assetTable('polyglot-languages.json', z.record(z.string(), language));

export const exerciseLanguage = (name: string): Language | undefined =>
  Object.hasOwn(table(), name) ? table()[name] : undefined;

export const languageNames = (): string[] => Object.keys(table());

/** A test file with its skipped tests enabled. */
export function unskipped({ unskip }: Language, test: Entry): Entry {
  if (!unskip) return test;
  const text = test.bytes.toString().replace(new RegExp(unskip.from, 'g'), unskip.to);
  return { ...test, bytes: Buffer.from(text) };
}

type Runner = Pick<Verifier, 'files' | 'command' | 'env' | 'sealed' | 'collect' | 'judge'>;

const sealed = (plugin: Parameters<typeof sealFiles>[0]) => ({
  files: sealFiles(plugin),
  judge: judgeSealed,
});

/** The files and the command that run the tests, and the judge of their results. */
export function runnerOf(given: Language, tests: string[]): Runner {
  const { report = '' } = given;
  const judges: Record<Language['judge'], () => Pick<Runner, 'judge'> & { files?: Entry[] }> = {
    pytest: () => sealed('belay_seal.py'),
    jest: () => sealed('seal-reporter.cjs'),
    junit: () => ({ judge: (outcome) => judgeJunit(outcome, report) }),
    go: () => ({ judge: judgePrinted(goTests) }),
    cargo: () => ({ judge: judgePrinted(rustTests) }),
  };
  const { files: plugins = [], judge } = judges[given.judge]();
  return {
    files: [
      ...Object.entries(given.links).map(([path, target]): Entry => ({
        ...fileEntry(path, ''),
        kind: 'link',
        target,
      })),
      ...plugins,
    ],
    command: given.command.flatMap((word) => (word === '{tests}' ? tests : word)),
    sealed: plugins.length > 0,
    env: { HOME: '/tmp', PYTHONDONTWRITEBYTECODE: '1', ...given.env },
    collect: report ? [report] : [],
    judge,
  };
}

/**
 * The verifier of a second run, with the tests in another order and with decoys at the end of the
 * test file `host`.
 */
export function rerunOf(
  given: Language,
  verifier: Verifier,
  { host, word }: { host: Entry | undefined; word: string },
): Verifier {
  const decoys = decoysOf(given.decoys);
  const changed =
    given.judge === 'pytest'
      ? inAnotherOrder(verifier, word)
      : withArguments(given, verifier, word);
  if (given.decoyFile) {
    const own = fileEntry(given.decoyFile.replace('{word}', word), decoys.text(word));
    return { ...changed, files: [...changed.files, own] };
  }
  const files = changed.files.map((entry) =>
    entry === host ? withDecoys(decoys, word, entry) : entry,
  );
  return { ...changed, files };
}

/** Appends the arguments to the command, which may be a line for a shell. */
function withArguments({ reorder }: Language, verifier: Verifier, word: string): Verifier {
  const { command } = verifier;
  const more = reorder.map((each) => each.replace('{seed}', String(seedOf(word))));
  if (command[0] !== 'bash') return { ...verifier, command: [...command, ...more] };
  return { ...verifier, command: command.with(-1, [command.at(-1), ...more].join(' ')) };
}
