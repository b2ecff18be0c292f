import { Readable, type Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AppError, type StartPayload, type Event } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';
import type { LostListener } from '../sandboxes/lifecycle/death-watch.js';
import type { CheckRunner } from '../sandboxes/lifecycle/check-runner.js';
import type { OpenTar } from '../sandboxes/connection/agent-calls.js';

/** A fake agent: what it has received, and what it returns. */
export interface FakeAgent {
  startPayload: StartPayload;
  files: string | undefined;
  tar: Buffer | undefined;
  received: Event[];
  calls: { name: string; input: unknown }[];
  exports: { format: string; commit?: string }[];
  n: number;
}

/** Sandboxes without containers: agents that a test controls. */
export class FakeSandboxes {
  readonly agents = new Map<string, FakeAgent>();
  /** All starts so far, in order. */
  readonly starts: StartPayload[] = [];
  readonly stopped: string[] = [];
  readonly removed: string[] = [];
  /** Thrown by the next start. */
  failure: AppError | undefined;
  /** Commits that histories do not have. */
  readonly missing = new Set<string>();
  /** The bytes of every patch, if set. */
  patch: (() => Iterable<Buffer> | Readable) | undefined;
  answer: (operation: string, input: unknown) => unknown = () => ({});
  /** Opens a connection to a port of a sandbox. */
  connect: (port: number) => Promise<Duplex> = () =>
    Promise.reject(new AppError('unavailable', 'Nothing listens there.'));
  readonly #listeners: LostListener[] = [];
  readonly #agentListeners = new Set<(session: string) => void>();

  async start(startPayload: StartPayload, openTar?: OpenTar): Promise<void> {
    if (this.agents.has(startPayload.session)) throw new AppError('conflict', 'It has one.');
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
    this.starts.push(startPayload);
    const { machine } = startPayload.settings;
    if (machine) this.machines.set(startPayload.session, this.machineId(machine.name));
    else this.machines.delete(startPayload.session);
    const isFirst = !this.starts
      .slice(0, -1)
      .some(({ session }) => session === startPayload.session);
    const tar = openTar && isFirst ? await buffer((await openTar()).tar) : undefined;
    this.agents.set(startPayload.session, {
      startPayload,
      files: tar?.toString(),
      tar,
      received: [],
      calls: [],
      exports: [],
      n: 0,
    });
  }

  agent(session: string) {
    const agent = this.agents.get(session);
    if (!agent) return undefined;
    return {
      session,
      epoch: agent.startPayload.epoch,
      call: (name: string, input: unknown): Promise<unknown> => {
        if (name === 'session.events')
          agent.received.push(...(input as { events: Event[] }).events);
        else agent.calls.push({ name, input });
        if (name !== 'operation.call') return Promise.resolve({});
        const { operation, input: given } = input as { operation: string; input: unknown };
        return Promise.resolve({ output: this.answer(operation, given) });
      },
      open: (name: string, meta: { format: string; commit?: string; port?: number }) => {
        if (name === 'preview') return this.connect(meta.port ?? 0);
        agent.exports.push(meta);
        if (this.missing.has(meta.commit ?? '')) {
          return Promise.reject(new AppError('not_found', 'The history has no such commit.'));
        }
        const bytes = `${meta.format} of ${session} at ${meta.commit ?? 'the end'}`;
        const whole = [Buffer.from(meta.format === 'tar' ? tarOfFile(bytes) : bytes)];
        const content = meta.format === 'patch' ? (this.patch?.() ?? whole) : whole;
        const stream = content instanceof Readable ? content : Readable.from(content);
        return Promise.resolve(Object.assign(stream, { end: () => undefined }));
      },
    };
  }

  /** The id of a joined machine. */
  machineId: (name: string) => string = (name) => name;
  /** The machines that have files of sessions, by session. */
  readonly machines = new Map<string, string>();
  /** Called when the copies of a session must be complete. */
  flush: (session: string) => Promise<void> = () => Promise.resolve();

  caution(): string | null {
    return null;
  }

  placeOf(session: string): string | null {
    return this.machines.get(session) ?? null;
  }

  filesAt(session: string): Promise<string | null | undefined> {
    const has = this.starts.some((start) => start.session === session);
    return Promise.resolve(has ? this.placeOf(session) : undefined);
  }

  stop(session: string): Promise<void> {
    if (this.agents.delete(session)) this.stopped.push(session);
    return Promise.resolve();
  }

  cutOff(session: string): Promise<void> {
    return this.stop(session);
  }

  remove(session: string): Promise<void> {
    this.agents.delete(session);
    this.removed.push(session);
    return Promise.resolve();
  }

  state(session: string): string {
    return this.agents.has(session) ? 'connected' : 'none';
  }

  /** Forgets what has happened so far, and what a test has set. */
  forget(): void {
    for (const past of [this.starts, this.stopped, this.removed]) past.length = 0;
    this.agents.clear();
    this.missing.clear();
    this.machines.clear();
    this.failure = undefined;
    this.patch = undefined;
  }

  onLost(listener: LostListener): void {
    this.#listeners.push(listener);
  }

  onAgent(listener: (session: string) => void): () => void {
    this.#agentListeners.add(listener);
    return () => this.#agentListeners.delete(listener);
  }

  /** Simulates that the agent of a running sandbox has connected. */
  connects(session: string, agent: FakeAgent): void {
    this.agents.set(session, agent);
    for (const listener of this.#agentListeners) listener(session);
  }

  /** The server’s process has ended; the sandboxes go on. */
  hangUp(): void {
    this.#listeners.length = 0;
    this.#agentListeners.clear();
  }

  get counts() {
    return { connected: this.agents.size, starting: 0, lost: 0, warm: 0, started: 0, failed: 0 };
  }

  /** The result of the check command, which runs outside of the agents. */
  runCheck: CheckRunner['runCheck'] = () =>
    Promise.resolve({ exitCode: 0, output: '', seconds: 0 });

  checks(): Promise<{ name: string; ok: boolean; detail: string; remedy: string | null }[]> {
    return Promise.resolve([{ name: 'docker', ok: true, detail: 'fake', remedy: null }]);
  }

  /** Simulates the death of the container, or of that of an earlier epoch. */
  lose(session: string, reason: string, ofEpoch?: number): void {
    const agent = this.agents.get(session);
    const epoch = ofEpoch ?? agent?.startPayload.epoch ?? 0;
    if (agent?.startPayload.epoch === epoch) this.agents.delete(session);
    for (const listener of this.#listeners) listener(session, reason, epoch);
  }

  /** Writes one event as the agent. */
  async says(
    log: EventLog,
    session: string,
    event: { action: string; args?: object; id?: string },
  ): Promise<number> {
    const agent = this.agents.get(session);
    if (!agent) throw new Error(`${session} has no agent`);
    agent.n += 1;
    const { action, args = {}, id } = event;
    const written = {
      n: agent.n,
      time: new Date().toISOString(),
      action,
      args: args as Record<string, unknown>,
      message: action,
      ...(id && { id }),
    };
    const [seq] = await log.appendFromAgent(session, agent.startPayload.epoch, [written]);
    return seq as number;
  }

  /** Calls finish as the agent, the way the loop does. */
  async finishes(log: EventLog, session: string, summary = ''): Promise<void> {
    await this.says(log, session, { action: 'finish', args: { summary }, id: 'f' });
    const args = { operation: 'finish', ok: true, output: { summary }, seconds: 0 };
    await this.says(log, session, { action: 'result', args, id: 'f' });
  }
}

/** A minimal tar archive with one file. */
export function tarOfFile(content: string): string {
  const field = (value: string, length: number) => value.padEnd(length, '\0');
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0');
  const size = Buffer.byteLength(content);
  const before = field('file', 100) + field('0000644', 8) + field('', 16);
  const numbers = field(octal(size, 12), 12) + field(octal(0, 12), 12);
  const after = field('0', 101) + field('ustar', 6) + field('00', 249);
  const header = `${before}${numbers}        ${after}`.slice(0, 512);
  const sum = Buffer.from(header).reduce((total, byte) => total + byte, 0);
  const summed = `${header.slice(0, 148)}${field(octal(sum, 7), 7)} ${header.slice(156)}`;
  return summed + content.padEnd(Math.ceil(size / 512) * 512, '\0') + '\0'.repeat(1024);
}
