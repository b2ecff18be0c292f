import { Injectable } from '@nestjs/common';
import { AppError, errorFrom, ignoreError, type StartPayload } from '@belay/protocol';
import { AgentCalls, type OpenTar } from './connection/agent-calls.js';
import type { AgentLink } from './connection/agent-link.js';
import { DeathWatch, type LostListener } from './lifecycle/death-watch.js';
import type { Sandbox, SandboxState } from './lifecycle/sandbox.js';
import { SandboxFiles, type FoundFiles } from './lifecycle/sandbox-files.js';
import { SandboxContainers } from './lifecycle/sandbox-containers.js';
import type { SandboxRecord } from './lifecycle/sandbox-records.store.js';
import { Sandboxes } from './lifecycle/sandboxes.js';
import { WarmPool } from './lifecycle/warm-pool.js';

/** How long the copy of a session’s files may take, and what is left of it when the session is stopped. */
const flushTimeoutMs = 300_000;
const stopFlushTimeoutMs = 30_000;

const cancelled = new AppError('cancelled', 'The start was cancelled.');

/** The sandboxes of the sessions. */
@Injectable()
export class SandboxService {
  readonly #totals = { started: 0, failed: 0 };

  constructor(
    private readonly sandboxes: Sandboxes,
    private readonly files: SandboxFiles,
    private readonly containers: SandboxContainers,
    private readonly pool: WarmPool,
    private readonly calls: AgentCalls,
    private readonly deaths: DeathWatch,
  ) {}

  /**
   * Creates a session’s sandbox and starts its work; resolves when the agent has begun. Reuses the files of an earlier
   * sandbox of the session, or their copy; otherwise it unpacks the tar into the empty workspace. Throws `AppError`:
   * conflict (it has one), limit_reached, not_found (the image), unavailable, disk_full, cancelled (by `stop`); nothing
   * half-made is left.
   */
  async start(startPayload: StartPayload, openTar?: OpenTar): Promise<void> {
    const { session, epoch, settings } = startPayload;
    const machine = settings.machine ? this.containers.machineOf(settings.machine) : undefined;
    const reserved = this.sandboxes.reserve(session, { epoch, machine });
    const { kept, left } = await this.files.find(session, machine).catch((error: unknown) => {
      this.sandboxes.remove(reserved);
      throw error;
    });
    try {
      const sandbox = await this.#withAgent(reserved, startPayload, kept);
      const filled = kept ? startPayload : await this.files.fill(sandbox, startPayload, openTar);
      // Before it begins, so that whatever others have it do is kept. An agent that a later server finds waiting gets its
      // session then. Until here, the session has what it had before, however this server ends.
      await this.files.record(sandbox, session, left);
      await this.calls.begin(sandbox, filled);
      await sandbox.begin();
      this.#totals.started++;
      if (left)
        void this.files
          .forgetLeft(sandbox, session)
          .catch(ignoreError('the next start removes the files'));
    } catch (error) {
      this.#totals.failed++;
      await this.#giveUp(session, reserved, { kept, left });
      if (!kept || errorFrom(error) === cancelled || (await this.#hasFiles(kept))) throw error;
      // Its host found only now that nothing reaches them any more. The copy of the steps is left.
      await this.start(startPayload, openTar);
    }
  }

  /** The agent of a session, while its container runs; calls wait while its connection is interrupted. */
  agent(session: string): AgentLink | undefined {
    return this.sandboxes.ofSession(session)?.link;
  }

  /**
   * The listener is called with each session whose agent can be called from now on, also again when it has connected
   * again. Returns a function that ends it.
   */
  onAgent(listener: (session: string) => void): () => void {
    const tell = ({ session }: Sandbox): void => void (session !== null && listener(session));
    this.sandboxes.on('published', tell);
    return () => this.sandboxes.off('published', tell);
  }

  state(session: string): SandboxState | 'none' {
    return this.sandboxes.ofSession(session)?.state ?? 'none';
  }

  /** What users should know of the session’s sandbox, in a sentence; null for nothing. */
  caution(session: string): string | null {
    const sandbox = this.sandboxes.ofSession(session);
    return sandbox ? this.containers.cautionOf(sandbox) : null;
  }

  /** The joined machine that the session’s sandbox is on, by id; null for the server. */
  placeOf(session: string): string | null {
    return this.sandboxes.ofSession(session)?.machine ?? null;
  }

  /** The joined machine that has the files of the session, by id; null for the server, undefined without files. */
  filesAt(session: string): Promise<string | null | undefined> {
    return this.files.at(session);
  }

  /**
   * Ends the container and keeps its files for a restart, or where they cannot stay a copy of its steps. When the engine
   * fails, it throws and the sandbox stays.
   */
  async stop(session: string): Promise<void> {
    const sandbox = this.sandboxes.ofSession(session);
    if (!sandbox) return;
    if (!sandbox.hasBegun) {
      sandbox.end(cancelled);
      await sandbox.gone();
      return;
    }
    const keepsFiles = this.containers.keepsFiles(sandbox);
    const uncopied = keepsFiles ? null : await this.#copySteps(session);
    sandbox.startEnding();
    await this.containers.shutDown(sandbox);
    await this.#end(sandbox);
    if (!keepsFiles) await this.files.tellGone(session, uncopied);
  }

  /**
   * Like `stop`, without a word to the agent: what it has asked its user stays asked, and the next agent waits for the
   * answer.
   */
  async cutOff(session: string): Promise<void> {
    const sandbox = this.sandboxes.ofSession(session);
    if (!sandbox?.hasBegun) return this.stop(session);
    sandbox.startEnding();
    await this.#end(sandbox);
  }

  /** Ends the container and deletes its files. */
  async remove(session: string): Promise<void> {
    const sandbox = this.sandboxes.ofSession(session);
    if (sandbox && !sandbox.hasBegun) await this.stop(session);
    else if (sandbox) await this.#dispose(sandbox, { files: true });
    await this.deaths.removed(session);
    await this.files.remove(session);
  }

  /**
   * Resolves when the server has a copy of everything that the session’s agent has recorded. Rejects with the reason why
   * it has none.
   */
  async flush(session: string, timeoutMs = flushTimeoutMs): Promise<void> {
    const link = this.agent(session);
    if (!link) throw new AppError('unavailable', 'The session has no sandbox.');
    await link.call('copies.flush', {}, { signal: AbortSignal.timeout(timeoutMs) });
  }

  /**
   * The listener is called with each sandbox that ends unexpectedly, including earlier ones, and a sentence with the
   * cause.
   */
  onLost(listener: LostListener): void {
    this.deaths.onLost(listener);
  }

  /** For metrics: sandboxes by state, and the number of starts so far. */
  get counts(): {
    connected: number;
    starting: number;
    lost: number;
    warm: number;
    started: number;
    failed: number;
  } {
    const counts = { connected: 0, starting: 0, lost: 0 };
    for (const { state } of this.sandboxes.ofSessions()) {
      if (state === 'connected' || state === 'starting') counts[state]++;
      else counts.lost++;
    }
    return { ...counts, warm: this.pool.size, ...this.#totals };
  }

  #hasFiles(kept: SandboxRecord): Promise<boolean> {
    return this.containers.hasFiles(kept).catch(() => true);
  }

  /** Returns null, or why the last steps have no copy. */
  async #copySteps(session: string): Promise<string | null> {
    try {
      await this.flush(session, stopFlushTimeoutMs);
      return null;
    } catch (error) {
      return errorFrom(error).message;
    }
  }

  /** A sandbox whose agent has said hello: a warm one, or a new container. */
  async #withAgent(
    reserved: Sandbox,
    { settings }: StartPayload,
    kept: SandboxRecord | undefined,
  ): Promise<Sandbox> {
    const { image, sandbox: profile, mounts, agent } = settings;
    await reserved.alive(Promise.resolve());
    const isPlain = !kept && mounts.length === 0 && !agent;
    const warm = isPlain ? this.pool.claim({ image, profile }, reserved.machine) : undefined;
    if (warm) {
      this.sandboxes.replace(reserved, warm);
      this.containers.rename(warm);
      return warm;
    }
    if (kept) reserved.files = kept.files;
    await this.containers.launch(reserved, {
      image,
      profile,
      mounts,
      agent,
    });
    return reserved;
  }

  /** Removes everything but the files that existed before. */
  async #giveUp(session: string, reserved: Sandbox, { kept, left }: FoundFiles): Promise<void> {
    // A warm sandbox may have replaced the reserved one.
    const sandbox = this.sandboxes.ofSession(session) ?? reserved;
    try {
      await this.containers.discard(sandbox, { files: kept === undefined });
      await this.files.giveUp(session, kept ?? left);
    } finally {
      this.sandboxes.remove(sandbox);
    }
  }

  async #end(sandbox: Sandbox): Promise<void> {
    await this.#dispose(sandbox, { files: false });
    await this.files.recordEnd(sandbox);
  }

  async #dispose(sandbox: Sandbox, what: { files: boolean }): Promise<void> {
    try {
      await this.containers.dispose(sandbox, what);
    } catch (error) {
      sandbox.keep();
      throw error;
    }
    this.sandboxes.remove(sandbox);
  }
}
