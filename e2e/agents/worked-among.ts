import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { belay, put, type BelayServer } from '@belay/testkit';
import type { PlayedModel } from './played-model.js';
import { evilHost } from './planted-files.js';
import { namesIn } from './sandbox-processes.js';
import type { TestedAgent } from './tested-agents.js';

/** What files of a project achieved. */
export interface Achieved {
  /** The session, which has ended. */
  session: string;
  /** Why the agent did not start; null if it worked. */
  refusal: string | null;
  /** The files in `/tmp`. */
  marks: string[];
  /** What the log says about the host that the files name. */
  hosts: string[];
}

/** Lets an agent work in a folder with these files, and returns what they achieved. */
export async function workedAmong(
  files: Readonly<Record<string, string>>,
  {
    server,
    model,
    agent,
    trust,
  }: { server: BelayServer; model: PlayedModel; agent: TestedAgent; trust: boolean },
): Promise<Achieved> {
  const folder = mkdtempSync(join(tmpdir(), 'belay-hostile-'));
  const { sessions } = server.client;
  try {
    for (const [path, text] of Object.entries(files)) put(folder, path, text);
    const known = new Set((await sessions.list()).map(({ id }) => id));
    const options = ['--agent', agent.name, '--workspace', folder, '--approve', 'auto'];
    const trusted = trust ? ['--trust'] : [];
    const run = ['run', 'Look around.', '-m', agent.model, ...options, ...trusted];
    let ended: string | undefined;
    const command = belay(server.data, run).then(({ stdout, stderr }) => {
      ended = stdout + stderr;
    });
    const find = async () => (await sessions.list()).find(({ id }) => !known.has(id));
    const { id } = await until('the session', find, { state: () => ended });
    const events = (action: string) =>
      sessions.events(id, {}).then((log) => log.filter((event) => event.action === action));
    /** Resolves when the model is asked, or with the sentence of an error. */
    const next = () =>
      until(
        'a request or an error',
        async () => {
          if (model.isAsked) return { refusal: null };
          const [error] = await events('error');
          return error && { refusal: error.message };
        },
        { timeoutMs: 60_000, state: () => ended },
      );
    const { refusal } = await next();
    if (refusal === null) {
      await model.reply({ calls: [{ ...agent.run('echo first'), id: 'call_first' }] });
      await next();
    }
    const marks = (await namesIn(id, '/tmp')).map((name) => `/tmp/${name}`);
    if (refusal === null) await model.reply({ text: 'Done.' });
    else await sessions.stop(id);
    await command;
    const hosts = (await events('egress')).map(({ message }) => message);
    return {
      session: id,
      refusal,
      marks,
      hosts: hosts.filter((message) => message.includes(evilHost)),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
