import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  writeSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { AppError } from '@belay/protocol';
import writeFileAtomic from 'write-file-atomic';
import { contentHash } from '../entries.js';
import type { Trial } from '../model.js';
import { folderName } from '../folder-name.js';
import { linesIn } from '../lines.js';

/**
 * Finished trials, one JSON line each, synced to disk before they are reported. A partial line
 * after a crash is dropped when the journal is opened again.
 */
export class Journal {
  readonly trials = new Map<string, Trial>();
  readonly #file: number;

  constructor(readonly path: string) {
    mkdirSync(dirname(path), { recursive: true });
    const known = readTrials(path);
    for (const trial of known.trials) this.trials.set(trial.key, trial);
    this.#file = openSync(path, 'a');
    ftruncateSync(this.#file, known.bytes);
  }

  append(trial: Trial): void {
    if (this.trials.has(trial.key)) return;
    writeSync(this.#file, trialLine(trial));
    fsyncSync(this.#file);
    this.trials.set(trial.key, trial);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The complete lines of a journal. */
export interface RecordedTrials {
  trials: Trial[];
  /** Those of them that are not as they were recorded. */
  edited: Set<Trial>;
  /** The length of these lines. */
  bytes: number;
}

export function readTrials(path: string): RecordedTrials {
  const trials: Trial[] = [];
  const edited = new Set<Trial>();
  let bytes = 0;
  if (!existsSync(path)) return { trials, edited, bytes };
  for (const line of linesIn(path)) {
    if (!line.ended) break;
    bytes = line.offset + line.bytes.length + 1;
    const text = line.bytes.toString();
    const [, content = '', digest] = digested.exec(text) ?? [];
    const { digest: _, ...trial } = JSON.parse(text) as Trial & { digest?: string };
    trials.push(trial);
    if (contentHash(content) !== digest) edited.add(trial);
  }
  return { trials, edited, bytes };
}

/**
 * A trial with a hash over its line, so that a later change by hand is noticed. It proves nothing
 * against a forger, who can calculate it as well.
 */
export function trialLine(trial: Trial): string {
  const content = JSON.stringify(trial).slice(0, -1);
  return `${content},"digest":"${contentHash(content)}"}\n`;
}

const digested = /^(.*),"digest":"([0-9a-f]+)"\}$/s;

/**
 * Writes a file, and its folder if necessary; readers see the old content or the complete new one.
 * Not synced to disk, because the file can be generated again.
 */
export function writeFileAtomically(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileAtomic.sync(path, content, { fsync: false });
}

/**
 * Like `writeFileAtomically`, for a file of a results folder whose name comes from data or from a
 * container. Throws `invalid_input` for a path that leaves the folder, by its name or through a
 * link. Skips a name that is too long for this machine.
 */
export function writeInside(root: string, path: string, content: string | Buffer): void {
  const parts = relative(resolve(root), resolve(path)).split(sep);
  if (parts[0] === '..' || path.includes('\0'))
    throw new AppError('invalid_input', `${path} is not in ${root}, so nothing is written there.`);
  let at = resolve(root);
  for (const part of parts) {
    at = join(at, part);
    if (isLink(at))
      throw new AppError(
        'invalid_input',
        `${at} is a link, so nothing is written there. Remove it.`,
      );
  }
  try {
    writeFileAtomically(path, content);
  } catch (error) {
    // Names in a container may be too long for this machine; one file matters less than the report.
    if (!isTooLong(error)) throw error;
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch (error) {
    if (isTooLong(error)) return false;
    throw error;
  }
}

const isTooLong = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG';

export const trialFolder = (out: string, { task, attempt }: Pick<Trial, 'task' | 'attempt'>) =>
  join(out, 'trials', `${folderName(task)}.${attempt}`);
