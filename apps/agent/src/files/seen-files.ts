import { AppError, ignoreError, type FileConflict, type LineHunk } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import { growth, knowsLines, knownLines, type KnownFile } from '../known-file.js';
import { countLines } from './text.js';
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
    const version = versionOf(now);
    if (seen && seen.version !== version)
      throw await this.#changed(place, now, { seen: seen.version, version });
  }

  /** Throws `conflict` unless the caller has read a whole file that has not changed since. */
  requireRead(place: WorkspacePath, now: Buffer, known: Known): void {
    if (!known || now.length === 0) return;
    const sentence = unread(place.given, now, known.get(place.path));
    if (sentence === null) return;
    const details: FileConflict = { path: place.path, version: versionOf(now), shown: false };
    throw new AppError('conflict', `${sentence} Nothing was changed.`, details);
  }

  /**
   * What others changed in a file since the caller read it, and its version, if they did; `hunks` are missing if not
   * all of it is known.
   */
  async changesSince(
    place: WorkspacePath,
    now: Buffer,
    known: Known,
  ): Promise<{ text: string; version: string; hunks?: LineHunk[] } | null> {
    const seen = known?.get(place.path);
    const version = versionOf(now);
    if (!seen || seen.version === version) return null;
    const lines = await this.#since(seen.version, now);
    if (!lines) return { text: readAgain, version };
    if (!lines.whole) return { text: `${lines.text}\n${readAgain}`, version };
    return { text: lines.text, version, hunks: lines.hunks };
  }

  async #changed(
    place: WorkspacePath,
    now: Buffer,
    { seen, version }: { seen: string; version: string },
  ): Promise<AppError> {
    const lines = await this.#since(seen, now);
    const details: FileConflict = {
      path: place.path,
      version,
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

  /** The changes since a version; nothing if that is no longer known. */
  #since(version: string, now: Buffer): Promise<ShownChange | null | undefined> {
    return this.#compare(this.#kept.get(version) ?? version, now).catch(
      ignoreError('without the earlier text, the file is read again'),
    );
  }

  #drop(version: string): void {
    this.#size -= this.#kept.get(version)?.length ?? 0;
    this.#kept.delete(version);
  }
}

const readAgain = 'Read it again before you edit it by line numbers.';

function unread(given: string, now: Buffer, seen: KnownFile | undefined): string | null {
  const advice = 'or set `overwrite` to replace it unread.';
  if (!seen) return `${given} exists, and you have not read it: read it first, ${advice}`;
  const shown = countLines(now) - seen.changes.reduce((sum, one) => sum + growth(one), 0);
  if (knowsLines(seen.lines, { from: 1, to: shown })) return null;
  if (knownLines(seen.lines) === '')
    return `You have not read ${given} as it is now: read it first, ${advice}`;
  const cut = seen.lines.find((part) => part.cut);
  if (cut)
    return `Line ${cut.from} of ${given} was cut when you read it: change a part of it with files.replace-text, ${advice}`;
  return `You have read only lines ${knownLines(seen.lines)} of ${given}: read the rest first, ${advice}`;
}
