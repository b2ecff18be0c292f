import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerConnection } from '../server-connection.js';

/** Writes the full text of a shortened result to a file, because the model has no other access to it. */
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

/** The name of the file with an action call’s output. */
export const actionFileName = (id: string): string => `action-${id}`;

/** The path of the full text with this name. */
export const wholeResultFile = (name: string): string =>
  join(tmpdir(), `${name.replaceAll(/[^\w-]/g, '_')}.txt`);
