import { blobId } from '@belay/protocol';
import type { DatabaseConnection } from './database-schema.js';

const rowsAtOnce = 500;

/** The blobs that a value refers to: every string in it that is exactly a blob’s id. */
export function blobsIn(value: unknown, found = new Set<string>()): string[] {
  if (typeof value === 'string') {
    if (value.length === 64 && blobId.safeParse(value).success) found.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) blobsIn(part, found);
  }
  return [...found];
}

/**
 * Records that a session or a benchmark run uses these blobs, in the transaction that stores the reference. Everyone
 * who sees the owner may read them, so knowing an id is not enough: the owner must have stored the blob, or the user
 * who attached it must be allowed to read it.
 */
export async function useBlobs(
  connection: DatabaseConnection,
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

/** Another session copies part of the log: it may use those of these blobs that the first session uses. */
export async function copyBlobUses(
  connection: DatabaseConnection,
  { from, to }: { from: string; to: string },
  blobs: readonly string[],
): Promise<void> {
  const used = new Set(await blobsOf(connection, from));
  const copied = blobs.filter((blob) => used.has(blob));
  await useBlobs(connection, to, copied);
}

/** The blobs that an owner references. */
export async function blobsOf(connection: DatabaseConnection, owner: string): Promise<string[]> {
  const rows = await connection
    .selectFrom('blob_use')
    .select('blob')
    .where('owner', '=', owner)
    .execute();
  return rows.map(({ blob }) => blob);
}

/** The sessions that reference this blob. */
export async function sessionsOfBlob(
  connection: DatabaseConnection,
  blob: string,
): Promise<string[]> {
  const rows = await connection
    .selectFrom('blob_use')
    .innerJoin('session', 'session.id', 'blob_use.owner')
    .select('session.id')
    .where('blob_use.blob', '=', blob)
    .execute();
  return rows.map(({ id }) => id);
}

/** Whether an owner references this blob. */
export async function usesBlob(
  connection: DatabaseConnection,
  owner: string,
  blob: string,
): Promise<boolean> {
  const row = await connection
    .selectFrom('blob_use')
    .select('blob')
    .where('owner', '=', owner)
    .where('blob', '=', blob)
    .executeTakeFirst();
  return row !== undefined;
}

/** Removes an owner’s references; returns its blobs. */
export async function releaseBlobs(
  connection: DatabaseConnection,
  owner: string,
): Promise<string[]> {
  const rows = await connection
    .deleteFrom('blob_use')
    .where('owner', '=', owner)
    .returning('blob')
    .execute();
  return rows.map(({ blob }) => blob);
}

/** Those of these blobs that are still referenced. */
export async function usedBlobs(
  connection: DatabaseConnection,
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
