import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  agentContainer,
  containerName,
  DockerClient,
  exitReason,
  labels,
  ownershipContainer,
  type Limits,
} from '@belay/containers';
import { AppError, ignoreError, visibleText } from '@belay/protocol';
import { z } from 'zod';
import { readAllSaved } from '../saved-file.js';
import type { Agents, EndedAgent, OnEnded, WantedAgent } from './agents.js';
import { AgentSockets } from './agent-sockets.js';
import { instanceOf } from './joined.js';
import { rememberEngine } from './used-engines.js';

const recorded = z.object({
  sandbox: z.string(),
  session: z.string(),
  workspace: z.string(),
  container: z.string(),
  /** The agent does not have it: its socket identifies it. */
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

const pollMs = 1_000;

/**
 * Agents in containers on this machine, created as the server creates its own. Each has only a Unix socket, from which
 * this process relays its connection to the server. The containers keep running when this process is killed: the next
 * one continues with those in its records, and removes others by their label.
 */
export class AgentContainers implements Agents {
  readonly #options: AgentContainersOptions;
  readonly #docker: DockerClient;
  readonly #sockets: AgentSockets;
  readonly #instance: string;
  readonly #running = new Map<string, RunningAgent>();
  readonly #starts = new Map<string, { workspace: string; started: Promise<void> }>();
  #timer: NodeJS.Timeout | undefined;

  /** Throws `unavailable` when the engine does not respond. */
  static async open(options: AgentContainersOptions): Promise<AgentContainers> {
    const agents = new AgentContainers(options);
    await agents.#takeOver();
    agents.#watch();
    return agents;
  }

  private constructor(options: AgentContainersOptions) {
    this.#options = options;
    const { folder, dockerHost, url, image } = options;
    this.#instance = instanceOf(folder);
    this.#docker = new DockerClient({ instance: this.#instance, dockerHost, trusted: [image] });
    this.#sockets = new AgentSockets({ url, name: `joined-${this.#instance}` });
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
    this.#starts.set(sandbox, { workspace, started });
    await started;
  }

  async stop(sandbox: string): Promise<void> {
    await this.#starts.get(sandbox)?.started.catch(ignoreError('it is not there then'));
    const agent = this.#running.get(sandbox);
    if (!agent) return;
    // Done before the engine is asked, so that a failed removal is repeated at the next start, and the container not
    // adopted.
    await this.#forget(agent);
    await this.#docker.remove(agent.container);
  }

  async removeFiles(names: readonly string[]): Promise<void> {
    await this.#endAgentsOn(names);
    for (const name of names) await this.#docker.removeVolume(this.#volume(name));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const all = [...this.#running.keys(), ...this.#starts.keys()];
    await Promise.all(all.map((sandbox) => this.stop(sandbox)));
  }

  async #start(wanted: WantedAgent): Promise<void> {
    const { sandbox, session, workspace, token } = wanted;
    await this.#endAgentsOn([workspace], sandbox);
    const volumes = { workspace: this.#volume(workspace), state: this.#volume(wanted.state) };
    const isFresh = (await this.#docker.volumeLabels(volumes.workspace)) === undefined;
    // New volumes belong to root.
    const owner =
      isFresh && wanted.container.profile !== 'root' ? await this.#setOwner(volumes) : undefined;
    let container: string | undefined;
    try {
      const socketFolder = await this.#sockets.open(sandbox, token);
      container = await this.#docker.create(await this.#spec(wanted, { volumes, socketFolder }));
      const agent = { sandbox, session, workspace, container, token };
      writeFileSync(this.#file(sandbox), JSON.stringify(agent), { mode: 0o600 });
      await this.#docker.start(container);
      this.#running.set(sandbox, agent);
    } catch (error) {
      await this.#giveUp(sandbox, container, isFresh ? Object.values(volumes) : []);
      throw error;
    } finally {
      if (owner !== undefined) await this.#remove(owner);
    }
  }

  async #endAgentsOn(workspaces: readonly string[], except?: string): Promise<void> {
    for (const [sandbox, { workspace }] of [...this.#running, ...this.#starts])
      if (sandbox !== except && workspaces.includes(workspace)) await this.stop(sandbox);
  }

  async #spec(
    { sandbox, session, container }: WantedAgent,
    made: { volumes: { workspace: string; state: string }; socketFolder: string },
  ) {
    const { image, runtime, limits } = this.#options;
    return agentContainer({
      ...made,
      name: containerName({ id: sandbox, session }),
      image: container.image ?? image,
      profile: container.profile,
      seeded: false,
      shared: [],
      runtime,
      limits: { ...limits, cpus: Math.min(limits.cpus, await this.#docker.cpus()) },
      tools: container.tools,
      labels: this.#labels({ [labels.sandbox]: sandbox, [labels.session]: session }),
    });
  }

  /** Runs a container that never starts: see `ownershipContainer`. */
  async #setOwner(volumes: { workspace: string; state: string }): Promise<string> {
    const { runtime } = this.#options;
    const image = await this.#docker.imageOf(runtime);
    if (image === undefined)
      throw new AppError('unavailable', `The agent’s runtime (${runtime}) is gone: join again.`);
    const own = this.#labels();
    const name = `${volumes.workspace}-owner`;
    return this.#docker.create(
      ownershipContainer({ name, image, volumes, labels: own, volumeLabels: own }),
    );
  }

  #labels(more: Record<string, string> = {}): Record<string, string> {
    return { [labels.instance]: this.#instance, [labels.data]: this.#options.folder, ...more };
  }

  async #giveUp(sandbox: string, container: string | undefined, volumes: string[]): Promise<void> {
    rmSync(this.#file(sandbox), { force: true });
    await this.#sockets.close(sandbox);
    if (container !== undefined) await this.#remove(container);
    for (const volume of volumes)
      await this.#docker.removeVolume(volume).catch(ignoreError('it goes with its session'));
  }

  /** Adopts the containers of an earlier process; those without a record are removed. */
  async #takeOver(): Promise<void> {
    const records = readAllSaved(join(this.#options.folder, 'containers'), recorded);
    for (const { id, running } of await this.#docker.list(this.#docker.ownLabel)) {
      const agent = records.find(({ container }) => container === id);
      if (!agent || !running) {
        await this.#docker.remove(id);
        continue;
      }
      await this.#sockets.open(agent.sandbox, agent.token);
      this.#running.set(agent.sandbox, agent);
    }
    for (const agent of records) if (!this.#running.has(agent.sandbox)) await this.#forget(agent);
  }

  #watch(): void {
    this.#timer = setTimeout(() => {
      void this.#look()
        .catch(ignoreError('an engine that is away is asked again'))
        .finally(() => this.#timer && this.#watch());
    }, pollMs);
  }

  async #look(): Promise<void> {
    if (this.#running.size === 0) return;
    const before = [...this.#running.values()];
    const found = await this.#docker.list(this.#docker.ownLabel);
    const running = new Set(found.filter((one) => one.running).map(({ id }) => id));
    for (const agent of before) {
      if (running.has(agent.container) || this.#running.get(agent.sandbox) !== agent) continue;
      const reason = await this.#reasonOf(agent);
      if (this.#running.get(agent.sandbox) !== agent) continue;
      await this.#forget(agent);
      this.#options.ended(agent, reason);
      await this.#remove(agent.container);
    }
  }

  async #reasonOf({ container }: RunningAgent): Promise<string> {
    const { memoryMb } = this.#options.limits;
    const exit = await this.#docker.exit(container);
    const printed = exit ? await this.#docker.lastLines(container, 3) : '';
    const lastLine = visibleText(printed.split('\n').at(-1)?.trim().slice(0, 300) ?? '');
    return exitReason(exit ?? undefined, {
      lastLine,
      memoryMb,
      setting: '--memory of belay join',
    });
  }

  async #remove(container: string): Promise<void> {
    await this.#docker.remove(container).catch(ignoreError('the next join removes it'));
  }

  async #forget({ sandbox }: EndedAgent): Promise<void> {
    this.#running.delete(sandbox);
    rmSync(this.#file(sandbox), { force: true });
    await this.#sockets.close(sandbox);
  }

  /** A volume of this server; other servers on the same machine have their own names. */
  #volume = (name: string): string => `belay-${this.#instance}-${name}`;
  #file = (sandbox: string): string => join(this.#options.folder, 'containers', `${sandbox}.json`);
}
