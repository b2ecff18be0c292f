import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionSummary } from '@belay/protocol';
import { belay, Followed, start, type BelayServer } from '@belay/testkit';
import type { PlayedModel } from './played-model.js';
import { newestText } from './sandbox-processes.js';
import type { TestedAgent } from './tested-agents.js';

/**
 * Moves a conversation that the real program has written on to a session, from there to a file on this machine, and
 * that file to another session: the program must load each by itself.
 */
export async function moveConversation(
  agent: TestedAgent,
  { server, model }: { server: BelayServer; model: PlayedModel },
): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-moved-')));
  const home = join(folder, 'home');
  const project = join(folder, 'project');
  mkdirSync(project);
  const options = { cwd: project, env: { CLAUDE_CONFIG_DIR: home, CODEX_HOME: home } };
  const args = ['-m', agent.model, '--workspace', project, '--approve', 'auto', '--json'];
  /** Imports a file, and expects the program to know these words. */
  const goOn = async (file: string, message: string, words: readonly string[]): Promise<string> => {
    const imported = await belay(server.data, ['import', file, message, ...args], options);
    expect(imported).toMatchObject({ code: 0 });
    const { id } = JSON.parse(imported.stdout) as SessionSummary;
    const { text } = await model.asked();
    for (const known of [...words, message]) expect(text).toContain(known);
    // It was not told the conversation as one text.
    expect(text).not.toContain('You continue the work of another agent');
    await end(new Followed(server, id), `Done: ${message}`);
    return id;
  };
  const end = async (session: Followed, text: string): Promise<void> => {
    await model.reply({ text });
    await session.finished();
    session.close();
  };
  try {
    const first = await start(server, {
      task: 'Begin elsewhere.',
      model: agent.model,
      agent: { name: agent.name, protocol: 'acp' },
    });
    await model.reply({ calls: [{ ...agent.run('printf moved-%s 11'), id: 'call_elsewhere' }] });
    await model.asked();
    await end(first, 'It began.');
    const file = join(folder, `${randomUUID()}.jsonl`);
    const programHome = `/var/lib/belay/home/.belay/${agent.name}`;
    writeFileSync(file, await newestText(first.id, programHome, '.jsonl'));
    const begun = ['Begin elsewhere.', 'moved-11', 'It began.'];
    const id = await goOn(file, 'Go on here.', begun);
    const exported = await belay(
      server.data,
      ['export', id, '--format', agent.name, '--json'],
      options,
    );
    expect(exported).toMatchObject({ code: 0 });
    const written = JSON.parse(exported.stdout) as { file: string };
    expect(written.file).toContain(home);
    await goOn(written.file, 'And on.', [...begun, 'Go on here.', 'Done: Go on here.']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
