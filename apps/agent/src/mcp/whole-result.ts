import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerConnection } from '../server-connection.js';

/** The file with the whole text of a result that was shortened, for the model has no other way to the rest. */
export async function putWhole(
  connection: Pick<ServerConnection, 'call'>,
  blob: string | undefined,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<string | undefined> {
  if (blob === undefined) return undefined;
  const { bytes } = await connection.call('blobs.get', { blob }, { signal });
  const file = wholeResultFile(name);
  await writeFile(file, bytes);
  return file;
}

/** The name of what an action’s call printed. */
export const actionFileName = (id: string): string => `action-${id}`;

/** Where the whole text of this name is. */
export const wholeResultFile = (name: string): string =>
  join(tmpdir(), `${name.replaceAll(/[^\w-]/g, '_')}.txt`);
