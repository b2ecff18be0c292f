import type { Entry } from '../entries.js';
import type { TaskPackage } from '../model.js';
import { directoryHash, sha256 } from './directory-hash.js';

/** What Harbor publishes of a task's folder. */
const published =
  /^(task\.toml|instruction\.md|README\.md|trajectory\.json)$|^(environment|tests|solution|steps)\//;

/** Files that Harbor leaves out by default. */
const ignored = /(^|\/)(__pycache__\/|\.DS_Store$|\.harborignore$)|\.(pyc|swp|swo)$|~$/;

/**
 * The digest of a task as a package, by which datasets name it: a hash over the published files. A
 * task's own .gitignore is not applied; packages contain none.
 */
export function packageDigest(files: Iterable<Entry>): string {
  const lines = [...files]
    .filter(({ path }) => published.test(path) && !ignored.test(path))
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
    .map(({ path, bytes }) => `${path}\0${sha256(bytes)}\n`);
  return `sha256:${sha256(lines.join(''))}`;
}

/** The record of a task. Its hashes are calculated when a report first needs them. */
export function packageOf(
  folder: string,
  files: Map<string, Entry>,
  task: { name: string; version?: string | undefined } | undefined,
): TaskPackage {
  let digest: string | undefined;
  let checksum: string | undefined;
  return {
    folder,
    name: task?.name ?? null,
    version: task?.version ?? null,
    get digest() {
      return (digest ??= packageDigest(files.values()));
    },
    get checksum() {
      return (checksum ??= directoryHash(files.values()));
    },
  };
}
