import { once } from 'node:events';
import { connect, findSession, type Where } from '../connection.js';
import { checkedFile, writeResult } from '../result-file.js';

/** `belay patch`: what a session changed, to a file or to standard output. */
export async function printPatch(
  name: string,
  options: Where & { output?: string },
): Promise<void> {
  if (options.output) await checkedFile(options.output);
  const { client, live } = connect(options);
  live.close();
  const { id } = await findSession(client, name);
  const patch = await client.sessions.patch(id);
  if (options.output) return writeResult(options.output, patch);
  if (!process.stdout.write(patch)) await once(process.stdout, 'drain');
}
