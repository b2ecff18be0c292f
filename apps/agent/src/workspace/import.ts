import { constants } from 'node:fs';
import { link, lstat, mkdir, open, rm, symlink } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@belay/protocol';
import { extract, type Headers } from 'tar-stream';
import { errorNumber } from '../files/fault.js';
import { WorkspaceFolder, type Place } from '../files/workspace-folder.js';

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/**
 * Unpacks a tar archive into the workspace: files with mode and time, folders, links of both kinds. Links are kept
 * as they are and never written through; an entry that leads out, or is a device or a pipe, fails the import.
 * Rejects with `AppError` (`invalid_input`, `forbidden`, `disk_full`, …); what was unpacked until then stays.
 */
export async function importWorkspace(workspace: string, tar: Readable): Promise<void> {
  const folder = new WorkspaceFolder(workspace);
  const modes = new Map<string, number>();
  const archive = extract();
  archive.on('entry', (header, entry, goOn) => {
    if (header.type === 'directory') modes.set(header.name, modeOf(header));
    unpack(folder, header, entry).then(goOn, goOn);
  });
  try {
    await pipeline(tar, archive);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError('invalid_input', `The archive cannot be unpacked: ${reason}`);
  }
  // Last, and inner folders first: a folder that may not be written to could not be filled.
  for (const [name, mode] of [...modes].toReversed()) {
    await folder.reach(name, (place) => setMode(place, mode), { follow: false });
  }
}

async function unpack(folder: WorkspaceFolder, header: Headers, entry: Readable): Promise<void> {
  const name = posix.normalize(header.name).replace(/\/$/, '');
  await folder.reach(
    header.name,
    async (place) => {
      if (place.path !== name && !(place.path === '.' && name === '.')) {
        throw new AppError('forbidden', `The archive writes ${header.name} through a link.`);
      }
      await write(folder, place, { header, entry });
      entry.resume();
    },
    { follow: false, make: true },
  );
}

async function write(
  folder: WorkspaceFolder,
  place: Place,
  { header, entry }: { header: Headers; entry: Readable },
): Promise<void> {
  if (header.type === 'directory') return makeFolder(place);
  await rm(place.at, { force: true });
  switch (header.type) {
    case 'symlink':
      return symlink(header.linkname ?? '', place.at);
    case 'link':
      return folder.reach(header.linkname ?? '', (target) => link(target.at, place.at), {
        follow: false,
      });
    case 'file':
    case 'contiguous-file':
    case null:
    case undefined:
      return writeEntry(place, header, entry);
    default:
      throw new AppError(
        'invalid_input',
        `The archive has a ${header.type} in it: ${place.given}.`,
      );
  }
}

async function writeEntry(place: Place, header: Headers, entry: Readable): Promise<void> {
  const file = await open(place.at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for await (const chunk of entry) await file.writeFile(chunk as Buffer);
    await file.chmod(modeOf(header));
    if (header.mtime) await file.utimes(header.mtime, header.mtime);
  } finally {
    await file.close();
  }
}

async function makeFolder(place: Place): Promise<void> {
  try {
    await mkdir(place.at);
  } catch (error) {
    const found = errorNumber(error) === 'EEXIST' && (await lstat(place.at)).isDirectory();
    if (!found) throw error;
  }
}

async function setMode(place: Place, mode: number): Promise<void> {
  const folder = await open(place.at, constants.O_RDONLY | constants.O_DIRECTORY | O_NOFOLLOW);
  try {
    await folder.chmod(mode);
  } finally {
    await folder.close();
  }
}

/** Without setuid and its kin. */
const modeOf = (header: Headers): number =>
  (header.mode ?? (header.type === 'directory' ? 0o755 : 0o644)) & 0o777;
