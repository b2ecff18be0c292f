import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isEvent, type AgentProtocol, type Event, type NewSession } from '@belay/protocol';
import { belay, BelayServer, repositoryRoot, start, type Followed } from '@belay/testkit';
import {
  ProviderServer,
  streaming,
  type ProviderAnswer,
} from '../../../apps/server/src/models/testing/provider-server.js';
import {
  chatCompletions,
  type WireCall,
} from '../../../apps/server/src/models/testing/provider-wires.js';

/** A call of the shell of `own-agent.mjs`, by its id in the log. */
export const bash = (id: string, command: string): WireCall => ({
  id,
  name: 'bash',
  input: JSON.stringify({ command }),
});

/** A reply of the played model. */
export const replies = (text: string, ...calls: WireCall[]): ProviderAnswer =>
  streaming(chatCompletions.reply({ text, calls }));

/** A server whose model is played, with `own-agent.mjs` as an agent `own` over ACP and `typed` in a terminal. */
export class AgentBench {
  provider!: ProviderServer;
  server!: BelayServer;
  readonly #folder = mkdtempSync(join(tmpdir(), 'belay-folder-'));
  #workspace = '';

  async open(): Promise<void> {
    this.provider = await ProviderServer.open();
    this.server = new BelayServer(chatCompletions.environment(this.provider.url));
    await this.server.start();
    await this.add('own', 'acp', 'acp');
    await this.add('typed', 'terminal', '{task}');
    this.#workspace = await this.upload(join(repositoryRoot, 'e2e/own-agent.mjs'));
  }

  async close(): Promise<void> {
    await this.server?.dispose();
    await this.provider?.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** Uploads files as the top of a workspace, and returns its id. */
  async upload(...files: string[]): Promise<string> {
    for (const file of files) copyFileSync(file, join(this.#folder, basename(file)));
    const archive = execFileSync('tar', [
      'c',
      '-C',
      this.#folder,
      ...files.map((file) => basename(file)),
    ]);
    return (await this.server.client.uploads.workspace(archive)).workspace;
  }

  start(session: Omit<NewSession, 'model'>): Promise<Followed> {
    const usual = { workspace: this.#workspace, approvals: 'ask' } as const;
    return start(this.server, { ...usual, ...session, model: chatCompletions.model });
  }

  /** Waits for the question about a call, and answers it. */
  async answer(
    session: Followed,
    call: string,
    answer: { verdict: 'approved' | 'rejected'; reason?: string } = { verdict: 'approved' },
  ): Promise<void> {
    await session.event((event) => isEvent(event, 'approval') && event.id === call);
    await this.server.client.sessions.answer(session.id, call, answer);
  }

  /** Adds `own-agent.mjs` as an agent of this name. */
  async add(name: string, protocol: AgentProtocol, argument: string): Promise<void> {
    const command = ['/opt/belay/node', '/workspace/own-agent.mjs', argument];
    const options = ['--protocol', protocol, '--', ...command];
    const added = await belay(this.server.data, ['agents', 'add', name, ...options]);
    if (added.code !== 0) throw new Error(added.stderr);
  }
}

/** The results of calls in a session, by the ids of the calls. */
export const resultsOf = ({ events }: { events: readonly Event[] }): Record<string, unknown> =>
  Object.fromEntries(
    events.flatMap((event) => (isEvent(event, 'result') ? [[event.id, event.args.output]] : [])),
  );
