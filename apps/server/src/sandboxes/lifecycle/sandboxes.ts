import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { SessionWorkspaces } from '../../actions/containers/session-workspaces.js';
import { Config } from '../../config.js';
import { Sandbox, type ConnectionChange, type SandboxOptions } from './sandbox.js';

/** What happens to a sandbox; `removed` is the last. */
type SandboxEvents = Record<ConnectionChange | 'removed', [sandbox: Sandbox]>;

/** All sandboxes of this server: those of sessions, warm ones, and those being created. */
@Injectable()
export class Sandboxes extends EventEmitter<SandboxEvents> {
  readonly #byId = new Map<string, Sandbox>();
  readonly #bySession = new Map<string, Sandbox>();

  constructor(
    private readonly config: Config,
    private readonly workspaces: SessionWorkspaces,
  ) {
    super();
  }

  all(): Sandbox[] {
    return [...this.#byId.values()];
  }

  withId(id: string): Sandbox | undefined {
    return this.#byId.get(id);
  }

  ofSession(session: string): Sandbox | undefined {
    return this.#bySession.get(session);
  }

  ofSessions(): Sandbox[] {
    return [...this.#bySession.values()];
  }

  add(options: SandboxOptions = {}): Sandbox {
    const sandbox = new Sandbox(options);
    sandbox.onChange = (change) => this.emit(change, sandbox);
    this.#byId.set(sandbox.id, sandbox);
    if (sandbox.session !== null) this.#give(sandbox.session, sandbox);
    return sandbox;
  }

  /**
   * Reserves a sandbox for a session, without a container yet. Throws `conflict` if it has one, and `limit_reached` when
   * the server has no capacity for one of its own.
   */
  reserve(session: string, where: { epoch: number; machine?: string | undefined }): Sandbox {
    if (this.#bySession.has(session)) {
      throw new AppError('conflict', 'The session already has a sandbox.');
    }
    const { maxSandboxes } = this.config;
    const own = this.ofSessions().filter(({ machine }) => machine === undefined);
    if (where.machine === undefined && own.length >= maxSandboxes) {
      throw new AppError(
        'limit_reached',
        `All ${maxSandboxes} sandboxes are in use. Stop a session, or raise BELAY_MAX_SANDBOXES.`,
      );
    }
    return this.add({ session, ...where });
  }

  /** Replaces the reserved sandbox by a warm one. */
  replace(reserved: Sandbox, warm: Sandbox): void {
    const { session, epoch } = reserved;
    if (session === null) return;
    warm.claim(session, epoch);
    this.remove(reserved);
    this.#give(session, warm);
  }

  remove(sandbox: Sandbox): void {
    this.#byId.delete(sandbox.id);
    const { session } = sandbox;
    if (session !== null && this.#bySession.get(session) === sandbox) {
      this.#bySession.delete(session);
      this.workspaces.delete(session);
    }
    sandbox.leave();
    this.emit('removed', sandbox);
  }

  #give(session: string, sandbox: Sandbox): void {
    this.#bySession.set(session, sandbox);
    this.workspaces.set(session, sandbox);
  }
}
