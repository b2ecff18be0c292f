import { closeSync, readdirSync } from 'node:fs';
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { AppError } from '@belay/protocol';
import { errorNumber, throwIfAborted } from './fault.js';
import { openFolder, type WorkspacePath } from './workspace-folder.js';

interface RemoveOptions {
  recursive: boolean;
  signal: AbortSignal;
}

/**
 * Removes a file, a link, or a folder with its content. Folders are held open while they are emptied, so that a link
 * swapped in is not followed.
 */
export async function removeTree(
  place: WorkspacePath,
  { recursive, signal }: RemoveOptions,
): Promise<void> {
  const stats = await lstat(place.at);
  if (!stats.isDirectory()) return unlink(place.at);
  if (recursive) await empty(place.at, signal);
  try {
    await rmdir(place.at);
  } catch (error) {
    if (recursive || errorNumber(error) !== 'ENOTEMPTY') throw error;
    throw new AppError(
      'conflict',
      `${place.given} is a folder that is not empty: set \`recursive\` to remove it all.`,
    );
  }
}

async function empty(at: string, signal: AbortSignal): Promise<void> {
  const folder = openFolder(at, at);
  try {
    for (const entry of readdirSync(folder.at, { withFileTypes: true })) {
      throwIfAborted(signal);
      const below = `${folder.at}/${entry.name}`;
      if (entry.isDirectory()) {
        await empty(below, signal);
        await rmdir(below);
      } else {
        await unlink(below);
      }
    }
  } finally {
    closeSync(folder.fd);
  }
}
