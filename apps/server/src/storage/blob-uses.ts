import { blobId } from '@belay/protocol';
import type { Connection } from './schema.js';

const rowsAtOnce = 500;

/** The blobs that something names: every text in it that is a blob's id and nothing else. */
export function blobsIn(value: unknown, found = new Set<string>()): string[] {
  if (typeof value === 'string') {
    if (value.length === 64 && blobId.safeParse(value).success) found.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) blobsIn(part, found);
  }
  return [...found];
}

/** Says that a session or a benchmark run needs these blobs, in the transaction that stores what names them. */
export async function useBlobs(
  connection: Connection,
  owner: string,
  blobs: readonly string[],
): Promise<void> {
  for (let at = 0; at < blobs.length; at += rowsAtOnce) {
    await connection
      .insertInto('blob_use')
      .values(blobs.slice(at, at + rowsAtOnce).map((blob) => ({ owner, blob })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** The owner is gone; answers the blobs that it needed. */
export async function releaseBlobs(connection: Connection, owner: string): Promise<string[]> {
  const rows = await connection
    .deleteFrom('blob_use')
    .where('owner', '=', owner)
    .returning('blob')
    .execute();
  return rows.map(({ blob }) => blob);
}

/** Those of these blobs that somebody needs. */
export async function usedBlobs(
  connection: Connection,
  blobs: readonly string[],
): Promise<Set<string>> {
  const used = new Set<string>();
  for (let at = 0; at < blobs.length; at += rowsAtOnce) {
    const rows = await connection
      .selectFrom('blob_use')
      .select('blob')
      .distinct()
      .where('blob', 'in', blobs.slice(at, at + rowsAtOnce))
      .execute();
    for (const { blob } of rows) used.add(blob);
  }
  return used;
}
