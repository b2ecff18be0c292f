import { randomBytes } from 'node:crypto';
import { AppError, ignoreError } from '@belay/protocol';
import { agentLink, type AgentConnection, type AgentLink } from '../connection/agent-link.js';
import type { ConnectedSandbox } from '../connection/connected-sandbox.js';

/**
 * `starting` until its agent has begun its session, then `connected` or `lost` depending on its connection, `ending`
 * while it is removed, `gone`. The agent of a `warm` sandbox waits for a session; once claimed, the sandbox is
 * `starting`.
 */
export type SandboxState = 'starting' | 'warm' | 'connected' | 'lost' | 'ending' | 'gone';

/**
 * `awaited`: the agent of an earlier server’s sandbox has not connected to this one yet. `published`: others may call the
 * agent over its connection, which may be a new one.
 */
export type ConnectionChange = 'awaited' | 'connected' | 'published' | 'disconnected';

type Phase = 'starting' | 'warm' | 'begun' | 'ending' | 'gone';

const next: Record<Phase, readonly Phase[]> = {
  starting: ['warm', 'begun', 'ending', 'gone'],
  warm: ['starting', 'ending', 'gone'],
  begun: ['ending', 'gone'],
  // Returns to `begun` when the engine could not remove it.
  ending: ['begun', 'gone'],
  gone: [],
};

export interface SandboxOptions {
  id?: string;
  /** The name of its files, for a session that has some; its own id when omitted. */
  files?: string;
  /** Undefined for a warm sandbox. */
  session?: string;
  epoch?: number;
  /** The hash of its agent’s id, once the agent has connected. */
  agent?: string | undefined;
  /** The joined machine that its agent runs on, and the hash of the agent’s token. */
  machine?: string | undefined;
  token?: string | undefined;
}

/** The lifecycle of one sandbox, from its request to its end. Its containers are managed elsewhere. */
export class Sandbox implements ConnectedSandbox {
  readonly id: string;
  /** The name of its files, which stay the same in later sandboxes of its session. */
  files: string;
  machine: string | undefined;
  token: string | undefined;
  /** How often its agent’s connection broke. */
  breaks = 0;
  /** Called with what happens to the agent’s connection. */
  onChange: (change: ConnectionChange) => void = () => {};
  #session: string | null;
  #epoch: number;
  #phase: Phase = 'starting';
  #begun = false;
  #agent: string | undefined;
  #connection: AgentConnection | undefined;
  #link: AgentLink | undefined;
  readonly #greeted = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<never>();
  readonly #abort = new AbortController();
  readonly #gone = Promise.withResolvers<void>();

  constructor({ id, files, session, epoch = 0, agent, machine, token }: SandboxOptions = {}) {
    this.machine = machine;
    this.token = token;
    this.id = id ?? randomBytes(6).toString('hex');
    this.files = files ?? this.id;
    this.#session = session ?? null;
    this.#epoch = epoch;
    this.#agent = agent;
    this.#ended.promise.catch(ignoreError('who awaits the sandbox receives it'));
  }

  get state(): SandboxState {
    if (this.#phase !== 'begun') return this.#phase;
    return this.#link?.connected ? 'connected' : 'lost';
  }

  get session(): string | null {
    return this.#session;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Aborts with the cause when it ends. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether its agent has received its session; still true while it ends. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  get isEnding(): boolean {
    return this.#phase === 'ending' || this.#phase === 'gone';
  }

  get connection(): AgentConnection | undefined {
    return this.#connection;
  }

  /** The agent, once others may call it and until the container is gone. */
  get link(): AgentLink | undefined {
    return this.#link;
  }

  /** The hash of its agent’s id, once the agent has connected. */
  get agent(): string | undefined {
    return this.#agent;
  }

  /**
   * Whether the program is its agent: the first to connect is, because no other program of a container runs before it.
   */
  admits(agent: string): boolean {
    this.#agent ??= agent;
    return this.#agent === agent;
  }

  connect(connection: AgentConnection): void {
    this.#connection = connection;
  }

  greet(): void {
    this.#greeted.resolve();
  }

  publish(): void {
    if (this.#connection && this.#session !== null && this.#phase !== 'gone') {
      this.#link = agentLink(this.#connection, this.#session, this.#epoch);
      this.onChange('published');
    }
  }

  connected(): void {
    this.onChange('connected');
  }

  disconnected(): void {
    this.breaks += 1;
    this.onChange('disconnected');
  }

  /** Resolves when the agent has said hello. */
  greeted(): Promise<void> {
    return this.alive(this.#greeted.promise);
  }

  /** Its agent waits for a session. */
  waitForSession(): void {
    this.#enter('warm');
  }

  /** Claims this warm sandbox for a session. */
  claim(session: string, epoch: number): void {
    this.#enter('starting');
    this.#session = session;
    this.#epoch = epoch;
  }

  /** The agent has begun its session. Throws the cause if the sandbox was ended meanwhile. */
  async begin(): Promise<void> {
    if (this.isEnding) await this.#ended.promise;
    this.#begun = true;
    this.#enter('begun');
  }

  /** Adopts a container found running at the server’s start, whose agent will reconnect. */
  adopt(): void {
    this.#begun = true;
    this.#enter('begun');
    this.onChange('awaited');
  }

  /** From now on its end is expected. */
  startEnding(): void {
    if (!this.isEnding) this.#enter('ending');
  }

  /** The engine could not remove it: it keeps its earlier state. */
  keep(): void {
    if (this.#phase === 'ending' && this.#begun) this.#enter('begun');
  }

  /** The container or its agent is gone, or the start was cancelled: pending calls fail with this error. */
  end(reason: AppError): void {
    this.startEnding();
    this.#link = undefined;
    this.#ended.reject(reason);
    this.#abort.abort(reason);
  }

  /** The container and its data have been removed. */
  leave(): void {
    if (this.#phase === 'gone') return;
    this.#enter('gone');
    this.#link = undefined;
    this.#gone.resolve();
  }

  /** Resolves when it is gone. */
  gone(): Promise<void> {
    return this.#gone.promise;
  }

  alive<T>(work: Promise<T>): Promise<T> {
    return Promise.race([this.#ended.promise, work]);
  }

  #enter(phase: Phase): void {
    if (!next[this.#phase].includes(phase)) {
      throw new AppError('internal', `A sandbox that is ${this.#phase} cannot be ${phase}.`);
    }
    this.#phase = phase;
  }
}
