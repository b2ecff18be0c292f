import { isUtf8 } from 'node:buffer';
import { accessSync, constants } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, bytesText } from '@belay/protocol';
import { historyFiles, looksSecret, NoHistory, type HistoryFiles } from '@belay/client';
import { HeldFolders } from '@belay/host';
import { folderReader } from './folder-reader.js';
import { LeftOut, tooLarge } from './left-out.js';
import { listWorkspace, type ListedPath } from './list-workspace.js';

export type PlannedEntry =
  | { kind: 'file' | 'folder' | 'link'; path: string; mode: number; mtime?: Date }
  | { kind: 'text'; path: string; content: string };

/** The parts of a folder that become a session’s workspace. */
export interface WorkspacePlan {
  folder: string;
  entries: PlannedEntry[];
  /** The number of files, and their total size. */
  files: number;
  bytes: number;
  maxBytes: number;
  /** Files with names of those that usually contain secrets. */
  secrets: string[];
  /** What is left out, as sentences for the user; packing may add more. */
  leftOut: LeftOut;
}

/** An existing folder as an absolute path without links. */
export async function checkedFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  const stat = await lstat(path).catch(() => undefined);
  if (!stat) throw new AppError('invalid_input', `The workspace ${folder} does not exist.`);
  const real = await realpath(path);
  if (!(await lstat(real)).isDirectory())
    throw new AppError('invalid_input', `The workspace ${folder} is not a folder.`);
  return real;
}

/**
 * Finds what to pack, before anything is sent. Rejects with `too_large` above `maxBytes` (BELAY_MAX_WORKSPACE_MB),
 * counting the sizes that files have when they are read, including holes; and when the signal is aborted.
 */
export async function planWorkspace(
  folder: string,
  {
    maxBytes = (Number(process.env.BELAY_MAX_WORKSPACE_MB) || 2048) * 2 ** 20,
    signal,
  }: { maxBytes?: number; signal?: AbortSignal } = {},
): Promise<WorkspacePlan> {
  const plan: WorkspacePlan = {
    folder,
    entries: [],
    files: 0,
    bytes: 0,
    maxBytes,
    secrets: [],
    leftOut: new LeftOut(),
  };
  const repositories = [''];
  const reader = folderReader(folder);
  let largest = { path: '', size: 0 };
  const folders = new HeldFolders(folder);
  try {
    for await (const found of listWorkspace(folder, plan.leftOut.folder)) {
      signal?.throwIfAborted();
      const entry = plannedEntry(plan, folders, found);
      if (!entry) continue;
      plan.entries.push(entry);
      if (found.repository) repositories.push(entry.path);
      if (entry.kind !== 'file') continue;
      if (looksSecret(entry.path)) plan.secrets.push(entry.path);
      const { size } = found.stat;
      plan.bytes += size;
      plan.files++;
      if (size > largest.size) largest = { path: entry.path, size };
      if (plan.bytes > maxBytes) throw tooLarge(maxBytes, largest);
    }
  } finally {
    folders.close();
  }
  for (const path of repositories) {
    const history = await historyFiles(reader, path);
    if (history) addHistory(plan, { path, history, space: maxBytes - plan.bytes });
  }
  return plan;
}

function addHistory(
  plan: WorkspacePlan,
  { path, history, space }: { path: string; history: HistoryFiles | NoHistory; space: number },
): void {
  if (history instanceof NoHistory) {
    plan.leftOut.history(path, history.why);
    return;
  }
  const size = history.copied.reduce((total, file) => total + file.size, 0);
  if (size > space) {
    plan.leftOut.history(path, `it has ${bytesText(size)}`);
    return;
  }
  for (const each of history.folders)
    plan.entries.push({ kind: 'folder', path: each, mode: 0o755 });
  for (const text of history.written) plan.entries.push({ kind: 'text', ...text });
  for (const { path: file, modified } of history.copied) {
    plan.entries.push({ kind: 'file', path: file, mode: 0o644, mtime: modified });
  }
  plan.files += history.copied.length;
  plan.bytes += size;
}

function isReadable(folders: HeldFolders, path: Buffer): boolean {
  try {
    accessSync(folders.at(path), constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function plannedEntry(
  { leftOut }: WorkspacePlan,
  folders: HeldFolders,
  { path: bytes, stat }: ListedPath,
): PlannedEntry | undefined {
  const path = Buffer.from(bytes, 'latin1');
  const name = path.toString();
  if (!isUtf8(path)) return leftOut.file(name, 'name');
  const entry = { path: name, mode: stat.mode, mtime: stat.mtime };
  if (stat.isSymbolicLink()) return { kind: 'link', ...entry };
  if (stat.isDirectory()) return { kind: 'folder', ...entry };
  if (!stat.isFile()) return leftOut.file(name, 'special');
  return isReadable(folders, path) ? { kind: 'file', ...entry } : leftOut.file(name, 'unreadable');
}
