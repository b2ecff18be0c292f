import type { Kysely } from 'kysely';
import { ServerRows } from '../peers/server-rows.js';
import type { DatabaseSchema } from '../storage/database-schema.js';

/**
 * Adds the row of another server, which counts as alive until it is removed: without any beats of this process, however
 * long a test takes.
 */
export async function addLiveServer(
  kysely: Kysely<DatabaseSchema>,
  {
    id,
    address = `${id}:1`,
    files = 'folder',
  }: { id: string; address?: string | null; files?: string },
): Promise<ServerRows> {
  const rows = new ServerRows(kysely, { id, address, files, key: 'k' });
  await rows.add();
  const beat = Date.now() + 3_600_000;
  await kysely.updateTable('server').set({ beat }).where('id', '=', id).execute();
  return rows;
}
