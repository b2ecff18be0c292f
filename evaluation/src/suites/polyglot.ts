import { posix } from 'node:path';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { hashOf, ownedBy, type Entry } from '../entries.js';
import type { Task } from '../model.js';
import { languageOf, type Language } from './polyglot-languages.js';
import { readFolders, textOf, type TaskFolder } from './reading.js';
import type { Suite } from './suite.js';

const config = z.object({
  files: z.object({
    solution: z.array(z.string()),
    test: z.array(z.string()),
    example: z.array(z.string()).default([]),
  }),
});

/** Exercism's exercises in the layout of Aider's polyglot benchmark: LANGUAGE/…/EXERCISE. */
export const polyglot: Suite = {
  name: 'polyglot',
  title: 'Aider polyglot',
  read: (path) => readFolders(path, '.meta/config.json').map((folder) => taskOf(folder, path)),
};

const limits = { build: 1_800, agent: 900, verify: 180 };
/** The sandbox's usual user: tests run as it, the harness's own files belong to root. */
const user = 1000;

function taskOf({ name, files }: TaskFolder, path: string): Task {
  const id = languageIn(name) ? name : `${posix.basename(posix.dirname(path))}/${name}`;
  const language = languageOf(languageIn(name) ?? languageIn(id) ?? '');
  if (!language)
    throw new AppError('invalid_input', `${id} is in no language that is known: javascript, …`);
  const { solution, test, example } = config.parse(
    JSON.parse(textOf(files, '.meta/config.json') ?? ''),
  ).files;
  const hidden = (file: string) => test.includes(file) || /^\.(meta|approaches|docs)\//.test(file);
  const visible = [...files.values()].filter((entry) => !hidden(entry.path));
  const verifier = language.verifier({ solution, test });
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
    carries: { kind: 'files', paths: language.sources ? [language.sources] : solution },
    scoring: 'final',
    tries: 2,
    content: hashOf('polyglot', [...files.values()], limits, verifier.command, verifier.env),
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
          files: [
            ...verifier.files,
            ...test.map((file) => language.unskip(absolute(entryOf(files, file)))),
          ],
          folders: [],
          user: String(user),
        },
        limits,
        minReward: null,
      },
    ],
  };
}

const languageIn = (name: string) => name.split('/').find((part) => languageOf(part));

const absolute = (entry: Entry): Entry => ({ ...entry, path: `/app/${entry.path}` });

function entryOf(files: Map<string, Entry>, path: string): Entry {
  const found = files.get(path);
  if (!found) throw new AppError('invalid_input', `An exercise names ${path}, which is not there.`);
  return found;
}

/** The text as Aider's benchmark puts it. */
function instructionOf(files: Map<string, Entry>, solution: string[]): string {
  const parts = ['introduction.md', 'instructions.md', 'instructions.append.md']
    .map((name) => textOf(files, `.docs/${name}`))
    .filter((text) => text !== undefined);
  const names = solution.map((file) => posix.basename(file)).join(' ');
  return `${parts.join('')}
####

Use the above instructions to modify the supplied files: ${names}
Don't change the names of existing functions or classes, as they may be referenced from other code like unit tests, etc.
Only use standard libraries, don't suggest installing any packages.
`;
}

/** What Aider's benchmark says after a first try that failed. */
export const secondTry = (output: string, names: string): string =>
  `${output}\n####\n\nSee the testing errors above.\nThe tests are correct, don't try and change them.\nFix the code in ${names} to resolve the errors.\n`;

/** Each example takes the place of a stub: the one of the same extension, or the language's own folder. */
function exampleFiles(
  files: Map<string, Entry>,
  language: Language,
  { solution, example }: { solution: string[]; example: string[] },
): Entry[] {
  return example.map((path, index) => {
    const place =
      language.examplePlace?.(path) ??
      solution.find((file) => example.length > 1 && posix.extname(file) === posix.extname(path)) ??
      (example.length > 1 ? posix.basename(path) : (solution[index] ?? posix.basename(path)));
    return { ...entryOf(files, path), path: place };
  });
}
