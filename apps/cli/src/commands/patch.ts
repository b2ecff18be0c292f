import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, type Where } from '../connection.js';

/** `belay patch`: what a session changed, to a file or to standard output. */
export async function printPatch(id: string, options: Where & { output?: string }): Promise<void> {
  const { client, live } = connect(options);
  live.close();
  const patch = await client.sessions.patch(id);
  if (options.output) return writeFile(options.output, patch);
  if (!process.stdout.write(patch)) await once(process.stdout, 'drain');
}
