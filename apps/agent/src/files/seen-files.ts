import { AppError, type FileConflict, type LineHunk } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import { knowsLines, knownLines, type KnownFile } from '../known-file.js';
import { versionOf } from './version-of.js';
import type { WorkspacePath } from './workspace-folder.js';

/** Bytes kept of files as they were read, to report later what changed. */
const mostKept = 8_000_000;
const largestKept = 500_000;

/**
 * The lines that differ between a file’s earlier bytes, or the version of them, and its current bytes; null if the
 * earlier ones are unknown.
 */
export type Compare = (before: string | Buffer, now: Buffer) => Promise<ShownChange | null>;

export interface ShownChange {
  text: string;
  /** Whether `text` contains all changes. */
  whole: boolean;
  hunks: LineHunk[];
}

/** What a caller must have read before a change; for ranges, one of them is enough, the last line included. */
export type Knowing = 'nothing' | 'all' | readonly { from: number; to: number }[];

type Known = CallContext['known'];

/** Refuses changes to files that differ from what their caller has seen. Users, who know no versions, are exempt. */
export class SeenFiles {
  readonly #compare: Compare;
  readonly #kept = new Map<string, Buffer>();
  #size = 0;

  constructor(compare: Compare) {
    this.#compare = compare;
  }

  /** Keeps bytes that a caller has read. */
  keep(bytes: Buffer): void {
    if (bytes.length > largestKept) return;
    const version = versionOf(bytes);
    this.#drop(version);
    this.#kept.set(version, bytes);
    this.#size += bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= mostKept) return;
      this.#drop(oldest);
    }
  }

  /** Throws `conflict` with what changed since the caller read the file. */
  async requireUnchanged(place: WorkspacePath, now: Buffer, known: Known): Promise<void> {
    const seen = known?.get(place.path);
    if (seen && seen.version !== versionOf(now))
      throw await this.#changed(place, now, seen.version);
  }

  /** Throws `conflict` when the caller has not read the lines that it must know for a change to an unchanged file. */
  requireRead(
    place: WorkspacePath,
    now: Buffer,
    { known, knowing }: { known: Known; knowing: Knowing },
  ): void {
    if (!known || knowing === 'nothing' || now.length === 0) return;
    const seen = known.get(place.path);
    const sentence =
      knowing === 'all' ? unreadToReplace(place.given, seen) : unreadToEdit(place, seen, knowing);
    if (sentence === null) return;
    const details: FileConflict = { path: place.path, version: versionOf(now), shown: false };
    throw new AppError('conflict', `${sentence} Nothing was changed.`, details);
  }

  async #changed(place: WorkspacePath, now: Buffer, seen: string): Promise<AppError> {
    const lines = await this.#compare(this.#kept.get(seen) ?? seen, now).catch(() => null);
    const details: FileConflict = {
      path: place.path,
      version: versionOf(now),
      shown: lines?.whole ?? false,
      ...(lines?.whole && { hunks: lines.hunks }),
    };
    const begin = `${place.given} changed since you last read it, so nothing was done.`;
    if (!lines) return new AppError('conflict', `${begin} Read it again first.`, details);
    const end = lines.whole ? '' : '\nMore changed than is shown here: read it again first.';
    return new AppError(
      'conflict',
      `${begin} These lines changed, with their numbers as they are now; call again with what fits them:\n${lines.text}${end}`,
      details,
    );
  }

  #drop(version: string): void {
    this.#size -= this.#kept.get(version)?.length ?? 0;
    this.#kept.delete(version);
  }
}

function unreadToReplace(given: string, seen: KnownFile | undefined): string | null {
  if (seen?.parts === null) return null;
  const read = seen
    ? `You have read only lines ${knownLines(seen)} of ${given}: read the rest`
    : `${given} exists, and you have not read it: read it`;
  return `${read} first, or set \`overwrite\` to replace it unread.`;
}

function unreadToEdit(
  { given }: WorkspacePath,
  seen: KnownFile | undefined,
  ranges: Exclude<Knowing, string>,
): string | null {
  if (!seen)
    return `You have not read ${given}, so its line numbers are not known: read it first, or replace an exact text.`;
  const [first] = ranges;
  if (!first || ranges.some(({ from, to }) => knowsLines(seen, from, to))) return null;
  const { from, to } = first;
  const lines = from === to ? `line ${from}` : `the lines ${from}–${to}`;
  return `You have read only lines ${knownLines(seen)} of ${given} as it is now: read ${lines} first.`;
}
