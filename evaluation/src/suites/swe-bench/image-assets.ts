import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isSafePath } from '@belay/host';
import { pluralText } from '@belay/protocol';
import { z } from 'zod';
import { fileEntry, type Entry } from '../../entries.js';

/** Where an evaluation script finds the files, by their paths in the repository. */
const staged = '/verify/assets';

/** Where they are beside the data, and in a task repository below the task. */
export const assetsFolder = 'test_assets';

/** Copies the files over the ones in the repository; the test patch has been applied before. */
export const copyAssets = `cp -R ${staged}/. /testbed/`;

/** Classic lines list only addresses, of files that their tests do not need. */
const list = z.array(z.union([z.string(), z.looseObject({ path: z.string().optional() })]));
const lists = z.object({ patch: list.nullish(), test_patch: list.nullish() });

/**
 * The binary files of the patches, which are text and cannot contain them, such as the images with
 * which rendering tests compare. A list by patch, or JSON in a string; undefined if it names none.
 */
export const imageAssets = z
  .union([z.string(), lists])
  .nullish()
  .transform((given, context): string[] | undefined => {
    const paths = typeof given === 'string' ? parsedText(given) : pathsIn(given);
    const wrong = paths?.find((path) => !isSafePath(path));
    if (paths && wrong === undefined) return paths.length > 0 ? paths : undefined;
    context.addIssue(
      paths
        ? `names ${JSON.stringify(wrong?.slice(0, 200))}, which is outside of the repository`
        : 'is not JSON with lists of files',
    );
    return z.NEVER;
  });

function parsedText(text: string): string[] | undefined {
  if (!text.trim()) return [];
  try {
    return pathsIn(lists.nullable().parse(JSON.parse(text)));
  } catch {
    return undefined;
  }
}

const pathsIn = (given: z.infer<typeof lists> | null | undefined): string[] => {
  const all = [...(given?.test_patch ?? []), ...(given?.patch ?? [])];
  return [...new Set(all.flatMap((each) => (typeof each === 'string' ? [] : (each.path ?? []))))];
};

/** The content of a file by its path in the repository; undefined if the data do not contain it. */
export type AssetReader = (path: string) => Buffer | undefined;

/** The files as they are copied to the verification, and the paths of those that are missing. */
export function stagedAssets(
  paths: string[],
  read: AssetReader,
): { files: Entry[]; missing: string[] } {
  const files: Entry[] = [];
  const missing: string[] = [];
  for (const path of paths) {
    const bytes = read(path);
    if (bytes) files.push(fileEntry(`${staged}/${path}`, bytes));
    else missing.push(path);
  }
  return { files, missing };
}

/**
 * Reads from a folder beside the data, which has the layout of a task repository. Links are not
 * followed, because a name in the data must not lead to another file of this machine.
 */
export function assetsBeside(folder: string, id: string): AssetReader {
  return (path) => {
    const below = `tasks/${id}/${assetsFolder}/${path}`;
    if (!isSafePath(below)) return undefined;
    try {
      const file = join(realpathSync(folder), below);
      return realpathSync(file) === file ? readFileSync(file) : undefined;
    } catch {
      return undefined;
    }
  };
}

/** Why an instance without these files cannot run; null if none is missing. */
export function missingAssets(id: string, missing: string[]): string | null {
  const [first, ...more] = missing;
  if (first === undefined) return null;
  const others = more.length > 0 ? ` and ${pluralText(more.length, 'more file')}` : '';
  const folder = `tasks/${id}/${assetsFolder}`;
  return `Its tests need ${first}${others}, but the data have no such files. Put them below ${folder}, beside the data.`;
}
