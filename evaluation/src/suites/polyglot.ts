import { posix, resolve, sep } from 'node:path';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { contentHash, ownedBy, type Entry } from '../entries.js';
import type { Task, Verifier } from '../model.js';
import { decoysOf } from './decoys.js';
import {
  languageNames,
  exerciseLanguage,
  runnerOf,
  rerunOf,
  unskipped,
  type Language,
} from './polyglot-languages.js';
import { tasksFrom, type Readable } from './readable-tasks.js';
import { readEachFolder, fileText, type TaskFolder } from './reading.js';
import type { Suite } from './suite.js';
import { withWrongTests } from './wrong-expectations.js';

const config = z.object({
  files: z.object({
    solution: z.array(z.string()),
    test: z.array(z.string()),
    example: z.array(z.string()).default([]),
  }),
});

/**
 * Exercism's exercises in the layout of Aider's polyglot benchmark,
 * LANGUAGE/exercises/practice/EXERCISE, or without the folders in between: the whole checkout, the
 * folder of one language, or one exercise.
 */
export const polyglot: Suite = {
  name: 'polyglot',
  title: 'Aider polyglot',
  read: (path, note) => {
    const found = readEachFolder(path, '.meta/config.json').map((folder) => ({
      ...folder,
      name: nameOf(folder.name, path),
    }));
    const left = Object.groupBy(found, (folder) => {
      const [language = ''] = folder.name.split('/');
      return exerciseLanguage(language) || isBroken(folder) ? '' : language;
    });
    const skipped = Object.entries(left).filter(([language]) => language !== '');
    const names = skipped.map(([language, all = []]) => `${language} (${all.length})`).join(', ');
    if (skipped.length > 0 && !left[''])
      throw new AppError(
        'invalid_input',
        `${path} has only exercises in ${names}. The languages that can be run are ${languageNames().join(', ')}.`,
      );
    if (skipped.length > 0)
      note?.(`Exercises in ${names} are skipped: there is no toolchain for them.`);
    return tasksFrom({ suite: 'polyglot', path }, left[''] ?? [], ({ files }, { name }) =>
      taskOf(name, files),
    );
  },
};

/**
 * LANGUAGE/EXERCISE, wherever the data are stored. The language is a folder above the exercise,
 * within the data or above them.
 */
function nameOf(name: string, path: string): string {
  const between = /^(exercises|practice|concept)$/;
  const inside = name.split('/').filter((part) => !between.test(part));
  const above = resolve(path).split(sep);
  // The path may itself be the exercise's folder or a packed file, so its last part is not a
  // language.
  if (inside.length === 1 && (above.at(-1) === inside[0] || isPacked(above.at(-1)))) above.pop();
  const outside = above.filter((part) => part && !between.test(part));
  const [exercise = name, language = outside.at(-1) ?? ''] = inside.toReversed();
  return `${language}/${exercise}`;
}

const isPacked = (name = '') => /\.jsonl?(\.gz)?$/.test(name);

function isBroken({ read }: Readable<TaskFolder>): boolean {
  try {
    read();
    return false;
  } catch {
    return true;
  }
}

const limits = { build: 1_800, agent: 900, verify: 180 };
/** The sandbox's usual user, which runs the tests; the harness's own files belong to root. */
const user = 1000;

function taskOf(id: string, files: Map<string, Entry>): Task {
  const [name = ''] = id.split('/');
  const language = exerciseLanguage(name);
  if (!language) throw new AppError('invalid_input', `There is no toolchain for ${name}.`);
  const { solution, test, example } = config.parse(
    JSON.parse(fileText(files, '.meta/config.json') ?? ''),
  ).files;
  const hidden = (file: string) => test.includes(file) || /^\.(meta|approaches|docs)\//.test(file);
  const visible = [...files.values()].filter((entry) => !hidden(entry.path));
  const tests = test.map((file) => unskipped(language, absolute(entryOf(files, file))));
  const own = runnerOf(language, test);
  const verifier: Verifier = {
    ...own,
    files: [...own.files, ...tests],
    folders: [],
    user: String(user),
  };
  return {
    suite: 'polyglot',
    id,
    environment: {
      image: { kind: 'toolchain', name: language.toolchain },
      cpus: 1,
      memoryMb: 2048,
      workdir: '/app',
      env: { HOME: '/tmp' },
      network: 'none',
    },
    user: String(user),
    artifacts: { kind: 'files', paths: language.sources ? [language.sources] : solution },
    scoring: 'final',
    tries: 2,
    labels: { language: name },
    content: contentHash('polyglot', [...files.values()], limits, verifier.command, verifier.env),
    steps: [
      {
        name: 'solve',
        instruction: instructionOf(files, solution),
        files: ownedBy(visible, user),
        oracle: {
          kind: 'files',
          files: ownedBy(exampleFiles(files, language, { solution, example }), user),
        },
        verifier: {
          ...verifier,
          check: checkOf(language, verifier, tests),
          withWrongTests: () => wrongOf(verifier, tests),
        },
        limits,
        minReward: null,
      },
    ],
  };
}

/** The second run, with decoys at the end of the first file that is named like a test. */
const checkOf =
  (language: Language, verifier: Verifier, tests: Entry[]): Verifier['check'] =>
  (word) => {
    const { count, honest } = decoysOf(language.decoys);
    const host = tests.find(({ path }) => /spec|test/i.test(posix.basename(path))) ?? tests[0];
    return { verifier: rerunOf(language, verifier, { host, word }), decoys: count, honest };
  };

function wrongOf(verifier: Verifier, tests: Entry[]): Verifier | null {
  const paths = new Set(tests.map(({ path }) => path));
  const files = withWrongTests(verifier.files, (path) => paths.has(path));
  return files && { ...verifier, files };
}

const absolute = (entry: Entry): Entry => ({ ...entry, path: `/app/${entry.path}` });

function entryOf(files: Map<string, Entry>, path: string): Entry {
  const found = files.get(path);
  if (!found)
    throw new AppError('invalid_input', `An exercise names ${path}, which does not exist.`);
  return found;
}

/** The instruction, worded as in Aider's benchmark. */
function instructionOf(files: Map<string, Entry>, solution: string[]): string {
  const parts = ['introduction.md', 'instructions.md', 'instructions.append.md']
    .map((name) => fileText(files, `.docs/${name}`))
    .filter((text) => text !== undefined);
  const names = solution.map((file) => posix.basename(file)).join(' ');
  return `${parts.join('')}
####

Use the above instructions to modify the supplied files: ${names}
Don't change the names of existing functions or classes, as they may be referenced from other code like unit tests, etc.
Only use standard libraries, don't suggest installing any packages.
`;
}

/** The message of Aider's benchmark after a failed first try. */
export const secondTry = (output: string, names: string): string =>
  `${output}\n####\n\nSee the testing errors above.\nThe tests are correct, don't try and change them.\nFix the code in ${names} to resolve the errors.\n`;

/**
 * Each example replaces the stub with the same extension, the n-th example the n-th stub, or is put
 * into `sources`. An example without such a stub becomes a new file.
 */
function exampleFiles(
  files: Map<string, Entry>,
  language: Language,
  { solution, example }: { solution: string[]; example: string[] },
): Entry[] {
  const like = (path: string) => (file: string) => posix.extname(file) === posix.extname(path);
  const { manifest, sources } = language;
  const own = manifest && files.get(manifest.example);
  const examples = example.map((path) => {
    const index = example.filter(like(path)).indexOf(path);
    const name = posix.basename(path);
    const stub = solution.filter(like(path))[index] ?? name;
    return { ...entryOf(files, path), path: sources ? `${sources}${name}` : stub };
  });
  return own && manifest ? [...examples, { ...own, path: manifest.place }] : examples;
}
