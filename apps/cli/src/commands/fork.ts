import { clientFor, findSession, serverUrl, type Where } from '../connection.js';
import { outputTo } from '../output.js';

export interface ForkOptions extends Where {
  at?: number;
  model?: string;
  message?: string;
  json?: boolean;
}

/** `belay fork`: a new session with the log and the files of another one, as of an event. */
export async function forkSession(name: string, options: ForkOptions): Promise<void> {
  const client = clientFor(options);
  const { id, lastSeq } = await findSession(client, name);
  const { at, model, message } = options;
  const fork = await client.sessions.fork(id, {
    seq: at ?? lastSeq,
    ...(model && { model }),
    ...(message && { message: { text: message } }),
  });
  const output = outputTo(process.stdout);
  if (options.json) return output.json(fork);
  output.line(
    `${fork.id} is a fork of ${id} at event ${at ?? lastSeq}: ${serverUrl(options)}/sessions/${fork.id}`,
  );
  if (!message) output.line(`Tell it what to do: belay say ${fork.id} "TEXT"`);
}
