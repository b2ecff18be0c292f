import { unlink } from 'node:fs/promises';
import { AppError, type OperationOutput } from '@belay/protocol';
import type { ChangedLines } from '../../differing-run.js';
import { charsetOf, encodeText } from '../charset.js';
import { fault } from '../fault.js';
import { load, prepareWrite, withExecutable, type Prepared } from '../file-bytes.js';
import { splitLines } from '../lines.js';
import { requireText } from '../text.js';
import { versionOf } from '../version-of.js';
import type { WorkspaceFolder } from '../workspace-folder.js';
import { changedLinesOf } from '../written-file.js';
import { applyHunks, type Applied } from './apply-hunks.js';
import type { PatchHunk } from './parse-hunk.js';
import type { FilePatch } from './file-patch.js';
import { parsePatch } from './parse-patch.js';

type Patched = OperationOutput<'files.patch'>['files'][number];

export interface PatchResult {
  files: Patched[];
  /** The changed lines, file by file. */
  changes: { path: string; regions: ChangedLines[] }[];
}

interface State {
  bytes: string;
  mode: number;
}

/** All or nothing: everything is computed in memory, then written beside its place, then renamed. */
export async function patchFiles(
  workspace: WorkspaceFolder,
  patch: string,
  signal: AbortSignal,
): Promise<PatchResult> {
  const draft = new PatchDraft(workspace);
  const result: PatchResult = { files: [], changes: [] };
  const failures: string[] = [];
  for (const file of parsePatch(patch)) {
    const outcome = await apply(draft, file);
    if (typeof outcome === 'string') {
      failures.push(outcome);
      continue;
    }
    result.files.push(outcome.file);
    result.changes.push({ path: outcome.file.path, regions: outcome.regions });
  }
  if (failures.length > 0) throw refused(failures);
  if (signal.aborted)
    throw new AppError('cancelled', 'The call was cancelled; nothing was changed.');
  await draft.write();
  return result;
}

function refused(failures: string[]): AppError {
  const shown = failures.slice(0, 5);
  const more = failures.length - shown.length;
  const rest = more > 0 ? ` ${more} more files fail.` : '';
  return new AppError('conflict', `${shown.join(' ')}${rest} Nothing was changed.`, { failures });
}

/** Applies one file’s patch to the draft; returns the reason if it does not apply. */
async function apply(
  draft: PatchDraft,
  patch: FilePatch,
): Promise<{ file: Patched; regions: ChangedLines[] } | string> {
  const { from, to } = patch;
  const before = from === null ? null : await draft.get(from);
  if (from !== null && before === null) return `${from} does not exist.`;
  if (to !== null && to !== from && (await draft.get(to)) !== null) return `${to} exists already.`;
  const applied = changed(before, patch);
  if (typeof applied === 'string') return applied;
  if (from !== null && from !== to && !patch.copy) draft.set(from, null);
  if (to !== null) draft.set(to, { bytes: applied.bytes, mode: modeAfter(before, patch) });
  return { file: summary(patch, before, applied), regions: applied.regions };
}

function changed(before: State | null, patch: FilePatch): Applied | string {
  const { from, to, whole, hunks } = patch;
  const bytes = before?.bytes ?? '';
  if (whole) return deleted(bytes);
  const applied = applyHunks(bytes, hunksFor(before, patch));
  if ('reason' in applied)
    return `Hunk ${applied.hunk} of ${hunks.length} does not fit ${from ?? to}: ${applied.reason}.`;
  if (to !== null || applied.bytes === '') return applied;
  const left = splitLines(applied.bytes).length;
  return `${from} is to be deleted, but ${left} of its lines are not in the patch.`;
}

function modeAfter(before: State | null, { mode }: FilePatch): number {
  const base = before?.mode ?? 0o644;
  return mode === null ? base : withExecutable(base, (mode & 0o100) !== 0);
}

/** Converts a patch’s lines from UTF-8 to the file’s encoding. */
function hunksFor(before: State | null, { hunks, from }: FilePatch): readonly PatchHunk[] {
  const charset = before ? charsetOf(Buffer.from(before.bytes, 'latin1')) : 'utf8';
  if (charset === 'utf8') return hunks;
  const inCharset = (bytes: string) =>
    encodeText(Buffer.from(bytes, 'latin1').toString('utf8'), charset, from ?? '').toString(
      'latin1',
    );
  return hunks.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.map((line) => ({ ...line, text: inCharset(line.text) })),
  }));
}

function deleted(bytes: string): Applied {
  const removed = splitLines(bytes).length;
  return { bytes: '', offsets: [], regions: removed > 0 ? [{ line: 1, added: [], removed }] : [] };
}

const versionIn = (bytes: string): string => versionOf(Buffer.from(bytes, 'latin1'));

function summary(patch: FilePatch, before: State | null, applied: Applied): Patched {
  const { from, to, whole } = patch;
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
  return {
    path: to ?? from ?? '',
    added: count('+'),
    removed: whole ? (applied.regions[0]?.removed ?? 0) : count('-'),
    offsets: applied.offsets,
    before: to === from && before ? versionIn(before.bytes) : null,
    version: to === null ? null : versionIn(applied.bytes),
    ...linesIn(applied, to === null),
  };
}

/** The places of the changes, and the lines there as they are afterwards. */
function linesIn(
  { bytes, regions }: Applied,
  isGone: boolean,
): Pick<Patched, 'hunks' | 'now' | 'shown'> {
  let grown = 0;
  const hunks = regions.map(({ line, removed, added }) => {
    const at = line - grown;
    grown += added.length - removed;
    return { at, removed, added: added.length };
  });
  return isGone ? { now: '', shown: [] } : changedLinesOf(Buffer.from(bytes, 'latin1'), hunks);
}

/** The resulting files of the workspace. A path may occur more than once in a patch. */
class PatchDraft {
  readonly #workspace: WorkspaceFolder;
  readonly #states = new Map<string, State | null>();

  constructor(workspace: WorkspaceFolder) {
    this.#workspace = workspace;
  }

  async get(path: string): Promise<State | null> {
    const known = this.#states.get(path);
    if (known !== undefined) return known;
    return this.#workspace
      .reach(path, async (place) => {
        const loaded = await load(place);
        if (!loaded) return null;
        requireText(loaded.bytes, path);
        return { bytes: loaded.bytes.toString('latin1'), mode: loaded.mode };
      })
      .catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'not_found') return null;
        throw error;
      });
  }

  set(path: string, state: State | null): void {
    this.#states.set(path, state);
  }

  /** Nothing is renamed before everything is written, and deletions come last. */
  async write(): Promise<void> {
    const pending: Pending[] = [];
    let path = '';
    try {
      const states = [...this.#states].sort(
        ([, a], [, b]) => Number(a === null) - Number(b === null),
      );
      for (const [name, state] of states) {
        path = name;
        pending.push(await this.#prepare(name, state));
      }
      for (const change of pending) {
        path = change.path;
        await change.commit();
      }
    } catch (error) {
      for (const change of pending) await change.discard();
      throw fault(error, path);
    } finally {
      for (const change of pending) change.release();
    }
  }

  async #prepare(path: string, state: State | null): Promise<Pending> {
    const options = { follow: state !== null, make: state !== null };
    const { place, release } = this.#workspace.hold(path, options);
    const remove: Prepared = { commit: () => unlink(place.at), discard: () => Promise.resolve() };
    try {
      const change = state
        ? await prepareWrite(place, Buffer.from(state.bytes, 'latin1'), state.mode)
        : remove;
      return { path, release, commit: change.commit, discard: change.discard };
    } catch (error) {
      release();
      throw error;
    }
  }
}

interface Pending extends Prepared {
  path: string;
  release: () => void;
}
