import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { belay, put, type BelayServer } from '@belay/testkit';
import type { PlayedModel } from './played-model.js';
import { evilHost, markPrefix } from './planted-files.js';
import type { TestedAgent } from './tested-agents.js';

/**
 * Lets an agent work in a folder with these files. Returns what the files achieved: the marks of commands that they
 * name, and the hosts that were asked for.
 */
export async function workedAmong(
  files: Readonly<Record<string, string>>,
  {
    server,
    model,
    agent,
    trust,
  }: { server: BelayServer; model: PlayedModel; agent: TestedAgent; trust: boolean },
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'belay-hostile-'));
  try {
    for (const [path, text] of Object.entries(files)) put(folder, path, text);
    const options = ['--agent', agent.name, '--workspace', folder, '--approve', 'auto'];
    const trusted = trust ? ['--trust'] : [];
    const ran = belay(server.data, [
      'run',
      'Look around.',
      '-m',
      agent.model,
      ...options,
      ...trusted,
    ]);
    const asked = async () => {
      const ended = ran.then(({ stdout, stderr }) => Promise.reject(new Error(stdout + stderr)));
      return Promise.race([model.asked(), ended]);
    };
    await asked();
    await model.reply({ calls: [{ ...agent.run('echo first'), id: 'call_first' }] });
    await asked();
    const list = `for f in ${markPrefix}*; do [ -e "$f" ] && echo "$f"; done; echo looked`;
    await model.reply({ calls: [{ ...agent.run(list), id: 'call_second' }] });
    const { body } = await asked();
    await model.reply({ text: 'Done.' });
    await ran;
    const [session] = await server.client.sessions.list();
    const events = session ? await server.client.sessions.events(session.id) : [];
    const result = events.find(({ action, id }) => action === 'result' && id === 'call_second');
    const printed = JSON.stringify(result?.args ?? body);
    if (!printed.includes('looked')) throw new Error(`The agent did not look: ${printed}`);
    const marks = printed.match(new RegExp(`${markPrefix}[a-z]+`, 'g')) ?? [];
    const hosts = events.filter(
      (event) => event.action === 'egress' && event.message.includes(evilHost),
    );
    return [...new Set([...marks, ...hosts.map(({ message }) => message)])];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
