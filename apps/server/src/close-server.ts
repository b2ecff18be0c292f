import { ignoreError } from '@belay/protocol';
import { inTime } from '@belay/rpc';

/** Less than a signal allows, in milliseconds: others that are not told wait until they take the server for ended. */
const closeMs = 4_000;

/** Closes a server, and then lets others take its place and its sessions, also if it does not close in time. */
export async function closeServer(
  app: { close(): Promise<void> },
  turn: { end(): Promise<void> } | undefined,
): Promise<void> {
  const closed = app.close().catch(ignoreError('what is left ends with the process'));
  await inTime(closed, closeMs, () => undefined);
  await turn?.end();
}
