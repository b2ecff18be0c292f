import { isEnded } from '@belay/protocol';
import { connect, type Where } from '../connection.js';
import { followRun } from '../follow-run.js';
import { conclude } from '../outcome.js';
import { outputTo } from '../output.js';
import { personAt } from '../person.js';

/** `belay attach`: prints a session so far, goes on with it, and asks what it asks. Answers the exit code. */
export async function attach(id: string, options: Where & { json?: boolean }): Promise<number> {
  const progress = outputTo(process.stderr);
  const { client, live, url } = connect(options);
  try {
    const joined = await client.sessions.get(id);
    const outcome = isEnded(joined.state)
      ? { interrupted: false }
      : await followRun({
          id,
          client,
          live,
          joined,
          json: options.json ?? false,
          person: personAt(process.stdin, progress),
          interrupt: 'leave',
        });
    return await conclude(outcome, { id, client, url, progress });
  } finally {
    live.close();
  }
}
