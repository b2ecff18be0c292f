import { constants } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ignoreError, type ProgramFile } from '@belay/protocol';

/** More than the server accepts; further files are left out. */
const maxFiles = 100;

/**
 * Sends the regular files directly in a folder, each after a line of JSON, and empties the folder. Opens no stream if
 * there are none.
 */
export async function sendFiles(folder: string, begin: () => Promise<Writable>): Promise<void> {
  const found = await readdir(folder, { withFileTypes: true }).catch(
    ignoreError('it left nothing'),
  );
  const names = (found ?? []).filter((entry) => entry.isFile()).map(({ name }) => name);
  if (names.length > 0) await sendAll(folder, names.toSorted().slice(0, maxFiles), await begin());
  for (const { name } of found ?? [])
    await rm(join(folder, name), { recursive: true, force: true });
}

async function sendAll(folder: string, names: readonly string[], stream: Writable): Promise<void> {
  // Each file adds some listeners for a moment.
  stream.setMaxListeners(0);
  try {
    for (const name of names) await send(join(folder, name), name, stream);
    await new Promise<void>((resolve) => stream.end(resolve));
  } catch {
    // The server has accepted as many files as it wants.
    stream.destroy();
  }
}

async function send(path: string, name: string, stream: Writable): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    const head: ProgramFile = { name, bytes: size };
    stream.write(`${JSON.stringify(head)}\n`);
    if (size === 0) return;
    await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), stream, {
      end: false,
    });
  } finally {
    await file.close();
  }
}
