import { clientFor, findSession, serverUrl, type PrintOptions } from '../connection.js';
import { printResult } from '../output.js';

export interface ForkOptions extends PrintOptions {
  at?: number;
  model?: string;
  agent?: string;
  message?: string;
}

/** `belay fork`: a new session with the log and the files of another one, as of an event. */
export async function forkSession(name: string, options: ForkOptions): Promise<void> {
  const client = clientFor(options);
  const { id, lastSeq } = await findSession(client, name);
  const { at, model, agent, message } = options;
  const fork = await client.sessions.fork(id, {
    seq: at ?? lastSeq,
    ...(model && { model }),
    ...(agent && { agent: { name: agent } }),
    ...(message && { message: { text: message } }),
  });
  printResult(
    options,
    fork,
    `${fork.id} is a fork of ${id} at event ${at ?? lastSeq}: ${serverUrl(options)}/sessions/${fork.id}`,
    ...(message ? [] : [`Tell it what to do: belay say ${fork.id} "TEXT"`]),
  );
}
