import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '@belay/protocol';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { unreadable } from '../lines.js';
import { packageDigest } from './harbor-package.js';
import { readEachFolder, type TaskFolder } from './reading.js';
import { faultSentence, type Readable } from './readable-tasks.js';

const manifestName = 'dataset.toml';

const reference = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*$/i, 'must be ORG/NAME')
    .refine((name) => !name.includes('..'), { error: 'must be ORG/NAME' }),
  digest: z.string().regex(/^sha256:[a-f0-9]{64}$/, 'must be sha256: and 64 hex digits'),
});

const manifest = z.object({
  dataset: z.object({ name: z.string() }),
  tasks: z.array(reference).default([]),
  files: z.array(z.object({ path: z.string() })).default([]),
});

/**
 * The tasks of a dataset.toml, each from the folder that has its content: beside the file, or in a
 * mirror in which it is at `ORG/NAME/DIGEST`. A task that is missing or has other content affects
 * only itself. Throws `invalid_input` with a sentence if the file cannot be read.
 */
export function readDataset(
  file: string,
  note?: (sentence: string) => void,
): Readable<TaskFolder>[] {
  const { tasks, files } = parsedManifest(file);
  if (files.some(({ path }) => path === 'metric.py'))
    note?.(`The metric.py of ${file} is not run; scores are the mean of the rewards.`);
  const folder = dirname(file);
  // A mirror has its datasets at ORG/NAME/DIGEST, too.
  const roots = [folder, join(folder, '..'), join(folder, '../..'), join(folder, '../../..')];
  const once = new Map(tasks.map((task) => [`${task.name}@${task.digest}`, task]));
  return [...once.values()].map(({ name, digest }) => {
    const where = `${file}, ${name}`;
    const read = () => ({ ...folderWith({ name, digest, roots, where }), name });
    return { name, where, bytes: Buffer.from(digest), read };
  });
}

/** The dataset.toml that a path of data stands for; undefined if it stands for folders of tasks. */
export function datasetAt(path: string): string | undefined {
  if (basename(path) === manifestName && existsSync(path)) return path;
  const inside = join(path, manifestName);
  if (!existsSync(inside)) return undefined;
  // As in Harbor, a folder of tasks is what it contains; its dataset.toml may be older.
  const hasTasks = namesIn(path).some((name) => existsSync(join(path, name, 'task.toml')));
  return hasTasks ? undefined : inside;
}

/**
 * The folder of a package in a mirror, for data named as `MIRROR/ORG/NAME` with `@REF` or without;
 * the path itself if it names no package. Throws `invalid_input` if a mirror has no such version.
 */
export function packageAt(path: string): string {
  const [, folder = path, ref = 'latest'] = /^(.+?)(?:@([\w.:-]+))?$/s.exec(path) ?? [];
  // A name with `@` is that of an existing folder first.
  const versions = folder !== path && existsSync(path) ? [] : versionsIn(folder);
  if (versions.length === 0) return path;
  const wanted = ref.replace(/^sha256:/, '');
  const found = versions.filter((name) =>
    wanted === 'latest' ? true : name === wanted || (wanted.length >= 8 && name.startsWith(wanted)),
  );
  if (found.length === 1 && found[0]) return join(folder, found[0]);
  const known = versions.map((name) => `sha256:${name}`).join(', ');
  throw new AppError(
    'invalid_input',
    `${folder} has ${known}. Name one of its versions as ${folder}@sha256:DIGEST; tags and revisions are known only to a registry.`,
  );
}

/** The digests of a package's versions; empty if the folder is not one of a package. */
const versionsIn = (folder: string): string[] =>
  existsSync(folder) && statSync(folder).isDirectory()
    ? namesIn(folder).filter(
        (name) =>
          /^[a-f0-9]{64}$/.test(name) &&
          ['task.toml', manifestName].some((file) => existsSync(join(folder, name, file))),
      )
    : [];

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw unreadable(folder, error);
  }
}

function parsedManifest(file: string): z.infer<typeof manifest> {
  try {
    return manifest.parse(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new AppError('invalid_input', faultSentence(error, file));
  }
}

interface Wanted {
  name: string;
  digest: string;
  roots: string[];
  where: string;
}

function folderWith({ name, digest, roots, where }: Wanted): TaskFolder {
  const [, short = name] = name.split('/');
  const below = [join(name, digest.slice('sha256:'.length)), name, short];
  let other: string | undefined;
  for (const path of roots.flatMap((root) => below.map((each) => join(root, each)))) {
    if (!existsSync(join(path, 'task.toml'))) continue;
    for (const { read } of readEachFolder(path, 'task.toml')) {
      const found = read();
      const actual = packageDigest(found.files.values());
      if (actual === digest) return found;
      other ??= `the files in ${found.path} have the digest ${actual}, not ${digest}.`;
    }
  }
  const missing = `there is no folder ${name} with the digest ${digest} in the mirror. Download the package there.`;
  throw new AppError('invalid_input', `${where}: ${other ?? missing}`);
}
