import { randomBytes } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { runsTasks, ServedTasks, type ProgramTasks } from '@belay/containers';
import { AppError, ignoreError, taskCalls, type StreamMeta } from '@belay/protocol';
import type { RpcConnection, RpcStream, Servers } from '@belay/rpc';
import { CallerEnds } from '../../access/caller-ends.js';
import type { Caller } from '../../access/caller.js';
import { Config } from '../../config.js';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import { AgentListener } from '../connection/agent-listener.js';
import { MachineHosts } from './machine-hosts.js';
import { isDraining, Machines, type MachineConnection } from './machines.js';

type EvaluationConnection = RpcConnection<typeof taskCalls, Record<never, never>>;
type TaskCall = Extract<keyof typeof taskCalls, string>;

/** How long an evaluation, or its machine, may be away before what it has begun there ends. */
const reconnectTimeoutMs = 30_000;
/** Relays at a time. */
const mostRelays = 200;
/** The calls that begin something, which a machine that is drained does not take. */
const beginning: ReadonlySet<TaskCall> = new Set(['task.create', 'task.guard'] as const);

/** Where an evaluation runs tasks. */
interface TaskPlace {
  /** Takes the evaluation’s calls. */
  serve(evaluation: EvaluationConnection): void;
  /** Called when the place is gone; returns how to end that. */
  onGone?(listener: (reason: AppError) => void): () => void;
  /** The evaluation has ended. */
  left?(): Promise<void>;
}

/**
 * Leads evaluations of admins to joined machines, which run their tasks (see `ServedTasks`), or runs them on this server’s
 * own cluster. What an evaluation has begun ends there with its connection.
 */
@Injectable()
export class TaskRelays {
  readonly #open = new Map<string, (reason: AppError) => void>();
  /** The relays that use a machine’s connection. */
  readonly #users = new WeakMap<MachineConnection, Set<(reason: AppError) => void>>();
  /** Of this server’s own cluster. */
  #own: ProgramTasks | undefined;

  constructor(
    private readonly machines: Machines,
    private readonly listener: AgentListener,
    private readonly ends: CallerEnds,
    private readonly hosts: MachineHosts,
    private readonly config: Config,
  ) {}

  /**
   * The token with which one process connects, as machines do, to run tasks on a machine. It is valid while that process
   * and the machine are connected, and the caller has its access. Throws like `Machines.connectedNamed`, and `forbidden`
   * or `unavailable` for a machine that runs none.
   */
  open(caller: Caller, name: string): { token: string } {
    const machine = this.#connectionTo(name);
    const users = this.#usersOf(machine, name);
    return this.#opened(caller, {
      serve: (evaluation) => this.#relay(evaluation, name, machine),
      onGone: (listener) => {
        users.add(listener);
        return () => users.delete(listener);
      },
    });
  }

  /** Like `open`, for tasks on this server’s own cluster. Throws `unavailable` where an engine runs its containers. */
  openOwn(caller: Caller): { token: string } {
    const tasks = new ServedTasks({ ...this.#rules(), host: this.#ownTasks() });
    return this.#opened(caller, {
      serve: (evaluation) => tasks.serve(evaluation),
      left: () => tasks.close(),
    });
  }

  #opened(caller: Caller, place: TaskPlace): { token: string } {
    if (this.#open.size >= mostRelays)
      throw new AppError('limit_reached', `${mostRelays} evaluations use machines: end some.`);
    const token = `tasks-${randomSecret()}`;
    const id = `tasks-${randomBytes(8).toString('hex')}`;
    const timeout = new ReconnectTimeout(() =>
      close(gone('The evaluation has not connected again.')),
    );
    const close = (reason: AppError): void => {
      timeout.end();
      off();
      offPlace?.();
      this.#open.delete(id);
      this.listener.remove(id, reason);
      place.left?.().catch(ignoreError('what is left is removed by the next server'));
    };
    const off = this.ends.on(caller, () =>
      close(new AppError('unauthorized', 'Access was withdrawn.')),
    );
    const offPlace = place.onGone?.(close);
    this.#open.set(id, close);
    let isTaken = false;
    this.listener.openRemote(id, hashOfSecret(token, 'hex'), {
      serves: taskCalls,
      calls: {},
      // Only one process knows its containers.
      authorize: async () => {
        if (isTaken) throw new AppError('forbidden', 'Another process has used this token.');
        isTaken = true;
      },
      onConnection: (connection) => {
        connection.on('connected', () => timeout.end()).on('disconnected', () => timeout.begin());
        connection.on('closed', () => close(gone('The evaluation has ended.')));
        place.serve(connection);
      },
    });
    timeout.begin();
    return { token };
  }

  #ownTasks(): ProgramTasks {
    const { host } = this.hosts.own;
    if (!runsTasks(host))
      throw new AppError(
        'unavailable',
        'This server has a Docker Engine, not a cluster: run “belay eval” on its machine, or let that machine join.',
      );
    const { maxSandboxes, memoryMb, cpus } = this.config;
    this.#own ??= host.tasks({ memoryMb: maxSandboxes * memoryMb, cpus: maxSandboxes * cpus });
    return this.#own;
  }

  /** Whoever may run evaluations may start sessions with any image. */
  #rules() {
    const { instance, image, memoryMb, cpus } = this.config;
    return {
      prefix: `${instance}-`,
      image,
      allowedImages: ['*'],
      limits: { memoryMb, cpus },
      limitsRemedy: 'set BELAY_MEMORY_MB and BELAY_CPUS of the server',
    };
  }

  #connectionTo(name: string): MachineConnection {
    const { id, kind } = this.machines.connectedNamed(name);
    if (kind !== 'container')
      throw new AppError('forbidden', `The machine ${name} has joined without --container.`);
    this.#assertTakes(name);
    const connection = this.machines.connectionOf(id);
    if (!connection) throw gone(`The machine ${name} is not connected.`);
    return connection;
  }

  #assertTakes(name: string): void {
    if (this.machines.known(name)?.draining) throw gone(isDraining(name));
  }

  /** Those of a connection end with it, and when it is interrupted for too long. */
  #usersOf(machine: MachineConnection, name: string): Set<(reason: AppError) => void> {
    const known = this.#users.get(machine);
    if (known) return known;
    const users = new Set<(reason: AppError) => void>();
    this.#users.set(machine, users);
    const end = (): void => {
      for (const close of users) close(gone(`The machine ${name} lost its connection.`));
    };
    const timeout = new ReconnectTimeout(end);
    machine.on('connected', () => timeout.end()).on('disconnected', () => timeout.begin());
    machine.on('closed', () => {
      timeout.end();
      end();
    });
    return users;
  }

  #relay(evaluation: EvaluationConnection, name: string, machine: MachineConnection): void {
    const relayed =
      (call: TaskCall) =>
      (input: never, { signal }: { signal: AbortSignal }) => {
        if (beginning.has(call)) this.#assertTakes(name);
        return machine.call(call, input, { signal });
      };
    const calls = (Object.keys(taskCalls) as TaskCall[]).map((call) => [call, relayed(call)]);
    evaluation.serve(Object.fromEntries(calls) as Servers<typeof taskCalls>);
    const open = async <N extends 'task.files' | 'task.image'>(
      stream: N,
      meta: StreamMeta<N>,
      near: RpcStream,
    ) => joinStreams(near, await machine.open(stream, meta));
    evaluation.accept('task.image', (meta, near) => open('task.image', meta, near));
    evaluation.accept('task.files', (meta, near) => open('task.files', meta, near));
  }
}

/** Calls its listener unless it is ended in time. */
class ReconnectTimeout {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly expired: () => void) {}

  begin(): void {
    this.end();
    this.#timer = setTimeout(this.expired, reconnectTimeoutMs).unref();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** Passes on all bytes, and the failure of one to the other. */
function joinStreams(near: RpcStream, far: RpcStream): void {
  const destroy = (error: Error) => [near, far].forEach((stream) => stream.destroy(error));
  pipeline(near, far).catch(destroy);
  pipeline(far, near).catch(destroy);
}

const gone = (why: string): AppError => new AppError('unavailable', why);
