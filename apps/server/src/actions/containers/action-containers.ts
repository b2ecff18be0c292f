import { randomBytes } from 'node:crypto';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  actionContainer,
  actionProcess,
  DockerClient,
  DockerHost,
  labels,
  outputFolder,
  ownPrograms,
  serviceContainer,
  type ActionContainer,
  type ActionProcess,
  type Limits,
} from '@belay/containers';
import { AppError } from '@belay/protocol';
import { Config } from '../../config.js';
import { EgressService } from '../../egress/egress.service.js';
import { ownerLabels } from '../../owner-labels.js';
import { removeContainer, startAttached } from '../../programs/attached-container.js';
import type { ProgramSocket } from '../../programs/program-socket.js';
import { ProgramSockets } from '../../programs/program-sockets.js';
import type { RunningProgram } from '../../programs/program.js';
import { watchWritten } from '../../programs/watch-written.js';
import type { ActionRun } from './action-run.js';
import { SessionWorkspaces, type SessionWorkspace } from './session-workspaces.js';
import { WarmActions, type IdleContainer } from './warm-actions.js';

/** The memory of a service; an action declares its own. */
const serviceMemoryMb = 512;
const maxCpus = 2;
const programUser = '1000:1000';

/**
 * Starts calls of actions, each in its own containers. Containers left by a killed server are removed at its next
 * start.
 */
@Injectable()
export class ActionContainers implements BeforeApplicationShutdown {
  readonly #warm: WarmActions;

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly host: DockerHost,
    private readonly egress: EgressService,
    private readonly sockets: ProgramSockets,
    private readonly workspaces: SessionWorkspaces,
  ) {
    this.#warm = new WarmActions(docker, {
      open: (run, signal) => this.#openIdle(run, signal),
      process: async (run) => actionProcess(await this.#workspaceOf(run), callOf(run, true)),
    });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#warm.close();
  }

  /** Throws a sentence as an `AppError`; when `signal` aborts, its reason. */
  async start(run: ActionRun, signal: AbortSignal): Promise<RunningProgram> {
    const workspace = await this.#staysWith(run);
    const kept = workspace && (await this.#warm.start(run, workspace, signal));
    return kept ?? this.#startOwn(run, { call: callOf(run, false), signal });
  }

  /**
   * The workspace whose sandbox determines how long the container is kept; undefined for a container that is removed
   * with the call.
   */
  async #staysWith(run: ActionRun): Promise<SessionWorkspace | undefined> {
    const { session, program } = run;
    const isKept =
      program.permissions.warm_seconds > 0 && Object.keys(program.services).length === 0;
    if (!isKept || session === null) return undefined;
    // For root, the idle process would count as one of its own.
    const { user } = await this.#workspaceOf(run);
    return /^0(:|$)/.test(user) ? undefined : this.workspaces.get(session);
  }

  async #openIdle(run: ActionRun, signal: AbortSignal): Promise<IdleContainer> {
    const { container, output, ended, stop } = await this.#startOwn(run, { call: null, signal });
    void drained(output);
    return { container, ended, end: async () => void (await stop()) };
  }

  async #startOwn(
    run: ActionRun,
    { call, signal }: { call: ActionProcess | null; signal: AbortSignal },
  ): Promise<RunningProgram & { container: string }> {
    const socket = await this.#socketOf(run);
    const services: string[] = [];
    const cleared = new AbortController();
    const clear = async (): Promise<void> => {
      cleared.abort();
      await Promise.all(services.map((id) => removeContainer(this.docker, id)));
      await socket.close();
    };
    try {
      await this.#startServices(run, { socket, services, signal });
      for (const container of services) this.#watch(run, container, cleared.signal);
      const spec = await this.#spec(run, { call, socket, beside: services[0] ?? null });
      signal.throwIfAborted();
      const running = await startAttached(this.docker, spec, signal);
      const ended = running.ended.then(async (end) => {
        await clear();
        return end;
      });
      return { ...running, ended, stop: () => running.stop().then(() => ended) };
    } catch (error) {
      await clear();
      throw error;
    }
  }

  /** The program’s socket, for connections to declared hosts and for the files that it leaves. */
  #socketOf({ name, session, program, onRefused, takeFiles }: ActionRun): Promise<ProgramSocket> {
    const { network: hosts } = program.permissions;
    const origin = { name: `The action ${name}`, session, hosts, refused: onRefused };
    return this.sockets.open(
      {
        connect: (target) => this.egress.connectProgram(origin, target),
        output: async () => takeFiles,
      },
      Object.keys(program.services),
    );
  }

  /** The first container has the loopback that the others and the action share. */
  async #startServices(
    { name, program, onPulled }: ActionRun,
    {
      socket,
      services,
      signal,
    }: { socket: ProgramSocket; services: string[]; signal: AbortSignal },
  ): Promise<void> {
    const taken = new Map<number, string>();
    for (const [called, service] of Object.entries(program.services)) {
      const other = taken.get(service.port);
      if (other !== undefined)
        throw new AppError(
          'invalid_input',
          `The services ${other} and ${called} of the action ${name} have the same port.`,
        );
      taken.set(service.port, called);
      signal.throwIfAborted();
      const spec = serviceContainer({
        name: `belay-action-${name}-${called}`,
        service,
        beside: services[0] ?? null,
        connection: this.#connection(socket),
        limits: await this.#limits(serviceMemoryMb),
        labels: this.#labels(name),
      });
      const { image } = service;
      const container = await this.docker.create(spec, {
        boundVolumes: true,
        onPulled: (id) => onPulled({ name: image, id }),
      });
      services.push(container);
      await this.docker.start(container);
    }
  }

  /** Watches what a service writes, because its file system is writable. */
  #watch(run: ActionRun, container: string, signal: AbortSignal): void {
    const { actionImageMb: mebibytes } = this.config;
    const tooMuch = new AppError(
      'tool_failed',
      `A service of the action ${run.name} wrote more than ${mebibytes} MiB and was stopped (BELAY_ACTION_IMAGE_MB).`,
    );
    const exceeded = (): void => run.fail(tooMuch);
    void watchWritten(this.docker, container, { mebibytes, exceeded, signal });
  }

  async #spec(
    run: ActionRun,
    {
      call,
      socket,
      beside,
    }: { call: ActionProcess | null; socket: ProgramSocket; beside: string | null },
  ) {
    const { name, program } = run;
    return actionContainer({
      name: `belay-action-${name}-${randomBytes(3).toString('hex')}`,
      image: program.image,
      call,
      connection: this.#connection(socket),
      beside,
      limits: await this.#limits(program.permissions.memory_mb),
      labels: this.#labels(name),
      ...(await this.#workspaceOf(run)),
    });
  }

  /**
   * The session’s workspace, with the user that its programs run as; an empty one for a call without a session. Throws
   * when the action declares a workspace and the session’s is not on this machine.
   */
  async #workspaceOf({
    name,
    session,
    program,
  }: ActionRun): Promise<Pick<ActionContainer, 'user' | 'workspace'>> {
    const { workspace } = program.permissions;
    if (workspace === 'none') return { user: programUser, workspace: null };
    if (session === null)
      return { user: programUser, workspace: { volume: null, readOnly: workspace === 'read' } };
    const sandbox = this.workspaces.get(session);
    const without = (why: string): AppError =>
      new AppError('conflict', `The action ${name} needs a workspace: ${why}.`);
    if (sandbox?.machine !== undefined)
      throw without('that of this session is on a joined machine');
    const agent = sandbox && (await this.host.agentOf(sandbox.id));
    if (!agent) throw without('the session has no sandbox now, so restart it');
    return {
      user: agent.user,
      workspace: { volume: agent.workspace, readOnly: workspace === 'read' },
    };
  }

  #connection = (socket: ProgramSocket) => ({
    socketFolder: socket.folder,
    runtime: this.config.runtimeVolume,
  });

  #labels = (name: string): Record<string, string> =>
    ownerLabels(this.config, { [labels.program]: ownPrograms, [labels.action]: name });

  async #limits(memoryMb: number): Promise<Limits> {
    return { memoryMb, cpus: Math.min(maxCpus, this.config.cpus, await this.docker.cpus()) };
  }
}

const callOf = ({ program, args, secrets }: ActionRun, stays: boolean): ActionProcess => ({
  command: [...program.command, ...args],
  secrets,
  start: {
    egress: program.permissions.network.length > 0,
    services: Object.fromEntries(
      Object.entries(program.services).map(([called, { port }]) => [called, port]),
    ),
    output: outputFolder,
    ...(stays && { stays }),
  },
});

async function drained(output: RunningProgram['output']): Promise<void> {
  for await (const _ of output);
}
