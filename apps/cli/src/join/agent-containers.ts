import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DockerClient,
  DockerHost,
  followHost,
  labels,
  type ContainerHost,
  type Limits,
  type Seen,
} from '@belay/containers';
import { runtimeFolder } from '@belay/host';
import { AppError, ignoreError } from '@belay/protocol';
import { z } from 'zod';
import { readAllSaved } from '../saved-file.js';
import { AgentRelays } from './agent-relays.js';
import type { Agents, EndedAgent, OnEnded, WantedAgent } from './agents.js';
import { instanceOf } from './joined.js';
import { rememberEngine } from './used-engines.js';

const recorded = z.object({
  sandbox: z.string(),
  session: z.string(),
  files: z.string(),
  /** The agent does not have it: its container identifies it. */
  token: z.string(),
});
type RunningAgent = z.output<typeof recorded>;

export interface AgentContainersOptions {
  /** The folder for all data of this server on this machine. */
  folder: string;
  /** The server. */
  url: URL;
  /** The engine’s address. */
  dockerHost: string;
  /** The image for sessions that name none. */
  image: string;
  /** The volume with the agent. */
  runtime: string;
  limits: Limits;
  ended: OnEnded;
}

/**
 * Agents in containers on this machine, created as the server creates its own. This process relays their connections to
 * the server. The containers keep running when it is killed: the next one continues with those in its records, and
 * removes others.
 */
export class AgentContainers implements Agents {
  readonly #options: AgentContainersOptions;
  readonly #host: ContainerHost;
  readonly #relays: AgentRelays;
  readonly #instance: string;
  readonly #running = new Map<string, RunningAgent>();
  readonly #starts = new Map<string, { files: string; started: Promise<void> }>();
  readonly #closing = new AbortController();

  /** Throws `unavailable` when the engine does not respond. */
  static async open(options: AgentContainersOptions): Promise<AgentContainers> {
    const agents = new AgentContainers(options);
    await agents.#follow();
    return agents;
  }

  private constructor(options: AgentContainersOptions) {
    this.#options = options;
    const { folder, dockerHost, url, image, runtime } = options;
    const instance = instanceOf(folder);
    this.#instance = instance;
    this.#host = new DockerHost(new DockerClient({ instance, dockerHost, trusted: [image] }), {
      image,
      runtime,
      labels: { [labels.instance]: instance, [labels.data]: folder },
      sockets: { folder: runtimeFolder(process.env.XDG_RUNTIME_DIR), name: `joined-${instance}` },
      browser: null,
      memorySetting: '--memory of belay join',
    });
    this.#relays = new AgentRelays(url);
    this.#host.onDial((sandbox, dial) => this.#relays.dialled(sandbox, dial));
    mkdirSync(join(folder, 'containers'), { recursive: true, mode: 0o700 });
    rememberEngine(folder, dockerHost);
  }

  get sandboxes(): string[] {
    return [...this.#running.keys()];
  }

  get sessions(): string[] {
    return [...this.#running.values()].map(({ session }) => session);
  }

  async start(wanted: WantedAgent): Promise<void> {
    const { sandbox, workspace } = wanted;
    if (this.#running.has(sandbox)) return;
    const before = this.#starts.get(sandbox);
    if (before) return before.started;
    const started = this.#start(wanted).finally(() => this.#starts.delete(sandbox));
    this.#starts.set(sandbox, { files: this.#filesOf(workspace), started });
    await started;
  }

  async stop(sandbox: string): Promise<void> {
    await this.#starts.get(sandbox)?.started.catch(ignoreError('it is not there then'));
    const agent = this.#running.get(sandbox);
    if (!agent) return;
    // Done before the engine is asked, so that a failed removal is repeated at the next start, and the container not
    // adopted.
    this.#forget(agent);
    await this.#host.remove(sandbox);
  }

  async removeFiles(names: readonly string[]): Promise<void> {
    const all = new Set(names.map((name) => this.#filesOf(name)));
    await this.#endAgentsOn(all);
    for (const files of all) await this.#host.removeFiles(files);
  }

  async close(): Promise<void> {
    this.#closing.abort(new AppError('cancelled', 'belay join was ended on its machine.'));
    const all = [...this.#running.keys(), ...this.#starts.keys()];
    await Promise.all(all.map((sandbox) => this.stop(sandbox)));
    await this.#host.close();
  }

  async #start({ sandbox, session, workspace, token, container }: WantedAgent): Promise<void> {
    const files = this.#filesOf(workspace);
    await this.#endAgentsOn(new Set([files]), sandbox);
    const isFresh = !(await this.#host.storedFiles()).includes(files);
    const agent = { sandbox, session, files, token };
    try {
      writeFileSync(this.#file(sandbox), JSON.stringify(agent), { mode: 0o600 });
      this.#relays.open(sandbox, token);
      const spec = {
        id: sandbox,
        label: session,
        labels: { [labels.session]: session },
        image: container.image ?? this.#options.image,
        rights: container.profile,
        limits: this.#options.limits,
        env: container.tools,
        files,
        folders: [],
        keptFiles: [],
        placedFiles: [],
      };
      await this.#host.start(spec, this.#closing.signal);
      this.#running.set(sandbox, agent);
    } catch (error) {
      this.#forget(agent);
      await this.#remove(sandbox);
      if (isFresh)
        await this.#host.removeFiles(files).catch(ignoreError('they go with their session'));
      throw error;
    }
  }

  async #endAgentsOn(all: ReadonlySet<string>, except?: string): Promise<void> {
    for (const [sandbox, { files }] of [...this.#running, ...this.#starts])
      if (sandbox !== except && all.has(files)) await this.stop(sandbox);
  }

  /** Resolves after the first check. */
  async #follow(): Promise<void> {
    const { promise: checked, resolve, reject } = Promise.withResolvers<void>();
    void followHost(this.#host, {
      signal: this.#closing.signal,
      synced: async (found) => {
        await this.#check(found);
        resolve();
      },
      changed: ({ id }) => {
        const agent = this.#running.get(id);
        if (agent)
          void this.#look(agent).catch(ignoreError('an engine that is away is asked again'));
      },
      away: reject,
      back: () => {},
    });
    try {
      await checked;
    } catch (error) {
      this.#closing.abort(error);
      throw error;
    }
  }

  /** Adopts the containers of an earlier process; those without a record are removed, and ended ones reported. */
  async #check(found: readonly Seen[]): Promise<void> {
    const records = readAllSaved(join(this.#options.folder, 'containers'), recorded);
    for (const { id, state } of found) {
      if (this.#running.has(id) || this.#starts.has(id)) continue;
      const agent = records.find(({ sandbox }) => sandbox === id);
      if (agent && state === 'running') await this.#adopt(agent);
      else await this.#host.remove(id);
    }
    for (const agent of records)
      if (!this.#running.has(agent.sandbox) && !this.#starts.has(agent.sandbox))
        this.#forget(agent);
    const running = new Set(found.filter(({ state }) => state === 'running').map(({ id }) => id));
    for (const agent of this.#running.values())
      if (!running.has(agent.sandbox)) await this.#look(agent);
  }

  async #adopt(agent: RunningAgent): Promise<void> {
    this.#relays.open(agent.sandbox, agent.token);
    await this.#host.adopt(agent.sandbox);
    this.#running.set(agent.sandbox, agent);
  }

  /** Reports an agent that does not run any more. */
  async #look(agent: RunningAgent): Promise<void> {
    const { sandbox } = agent;
    const { state, why } = await this.#host.look(sandbox);
    if (state === 'running' || this.#running.get(sandbox) !== agent) return;
    this.#forget(agent);
    this.#options.ended(agent, `${why ?? 'The sandbox ended.'} Its files are kept.`);
    await this.#remove(sandbox);
  }

  async #remove(sandbox: string): Promise<void> {
    await this.#host.remove(sandbox).catch(ignoreError('the next join removes it'));
  }

  #forget({ sandbox }: EndedAgent): void {
    this.#running.delete(sandbox);
    rmSync(this.#file(sandbox), { force: true });
    this.#relays.close(sandbox);
  }

  /** The files behind a name of the server’s; other servers on the same machine have their own. */
  #filesOf = (name: string): string =>
    `${this.#instance}-${name.replace(/-(workspace|state)$/, '')}`;
  #file = (sandbox: string): string => join(this.#options.folder, 'containers', `${sandbox}.json`);
}
