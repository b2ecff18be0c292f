import { setTimeout as sleep } from 'node:timers/promises';
import { script, start } from '@belay/testkit';

const word = 'first-output';

/** Milliseconds from the request that creates a session to the first output of its command on the socket. */
export async function firstOutput(server) {
  const model = script(server.data, [
    { calls: [{ operation: 'terminal.run', input: { command: `echo ${word}` } }] },
    { calls: [{ operation: 'ask', input: { question: 'Go on?' } }] },
  ]);
  const begin = performance.now();
  const session = await start(server, { task: 'Say hello', model });
  try {
    await session.until(() => session.terminal().includes(word), 'the first output');
    return performance.now() - begin;
  } finally {
    session.close();
    await server.client.sessions.remove(session.id);
  }
}

/** Lets the pool fill up again: only a claim of a sandbox that is ready is a warm start. */
export const poolRest = () => sleep(2500);
