import { isEnded } from '@belay/protocol';
import { connect, findSession, type Where } from '../connection.js';
import { followRun } from '../follow-run.js';
import { conclude } from '../outcome.js';
import { outputTo } from '../output.js';
import { personAt } from '../person.js';

export interface AttachOptions extends Where {
  json?: boolean;
}

/** `belay attach`: prints a session so far, goes on with it, and asks what it asks. Answers the exit code. */
export async function attach(
  name: string,
  options: AttachOptions,
  /** Sent first; then only what follows it is printed. */
  message?: { text: string; delivery: 'queue' | 'steer' },
): Promise<number> {
  const progress = outputTo(process.stderr);
  const { client, live, url } = connect(options);
  try {
    const joined = await findSession(client, name);
    const { id } = joined;
    if (message) await client.sessions.message(id, message);
    const format = options.json ? 'json' : 'words';
    const outcome = await followRun({
      id,
      client,
      live,
      joined,
      after: message ? joined.lastSeq : 0,
      format,
      progress,
      person: isEnded(joined.state) && !message ? undefined : personAt(process.stdin, progress),
      interrupt: 'leave',
    });
    return await conclude(outcome, { id, client, url, progress, format });
  } finally {
    live.close();
  }
}
