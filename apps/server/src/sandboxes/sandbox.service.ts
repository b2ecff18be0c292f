import { setTimeout as delay } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { AppError, errorFrom, type Assignment, type Check } from '@belay/protocol';
import { Config } from '../config.js';
import type { AgentLink } from './agent-link.js';
import { SandboxChecks } from './checks.js';
import { ContainerLauncher } from './container-launcher.js';
import { causeOfDeath } from './death.js';
import { DockerClient } from './docker.client.js';
import { Reconciler } from './reconciler.js';
import { RopeListener } from './rope-listener.js';
import type { Sandbox } from './sandbox.js';
import { SandboxRecords } from './sandbox-records.store.js';
import { SandboxRegistry, type Place } from './sandbox-registry.js';
import { Sidecars } from './sidecar.js';
import { Starter } from './starter.js';
import { WarmPool } from './warm-pool.js';

export type SandboxState = 'none' | 'starting' | 'connected' | 'lost';
export type LostListener = (session: string, reason: string) => void;

/** How long an agent may take to write what is left, and then to end, in milliseconds. */
const farewell = { shutdown: 3_000, exit: 1_500 };
/** A break of the rope is looked into after so many milliseconds, should the engine not tell of a death. */
const breakPatience = 1_000;

/** The sandboxes of the sessions. */
@Injectable()
export class SandboxService implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(SandboxService.name);
  private readonly listeners = new Set<LostListener>();
  /** Found before anybody listened. */
  private losses: [session: string, reason: string][] = [];
  /** Dead containers that are still being removed, by session. */
  private readonly burials = new Map<string, Promise<void>>();
  private closing = false;

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly listener: RopeListener,
    private readonly launcher: ContainerLauncher,
    private readonly pool: WarmPool,
    private readonly records: SandboxRecords,
    private readonly registry: SandboxRegistry,
    private readonly reconciler: Reconciler,
    private readonly sidecars: Sidecars,
    private readonly starter: Starter,
    private readonly doctor: SandboxChecks,
  ) {}

  async onModuleInit(): Promise<void> {
    const born = (sandbox: Sandbox): void => this.watch(sandbox);
    this.pool.born = born;
    this.starter.born = born;
    await this.reconciler.start({
      died: (sandbox) => this.died(sandbox),
      lost: async (sandbox, session) => {
        const reason = await this.causeOf(sandbox);
        const error = new AppError('unavailable', reason);
        await this.bury(sandbox, { volumes: false, reason: error });
        this.tell(session, reason);
      },
    });
    for (const sandbox of this.registry.sandboxes.values()) this.watch(sandbox);
    this.pool.refill();
  }

  /** Agents go on without the server; those without a session are ended. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing = true;
    await this.reconciler.close();
    // First the pool: one that is just being filled still waits for its agent's hello.
    await this.pool.close().catch((error: unknown) => this.logger.warn(error));
    await this.listener.hangUpAll();
  }

  /**
   * Gives a session its sandbox and begins its work; resolves when the agent has begun. Files of an earlier
   * sandbox of the session are used again, otherwise `workspaceTar` is unpacked into the empty workspace.
   * Throws `AppError`: conflict (it has one), limit_reached, not_found (the image), unavailable, disk_full;
   * then nothing half-made is left.
   */
  async start(assignment: Assignment, workspaceTar?: () => Promise<Readable>): Promise<void> {
    const { session } = assignment;
    const { places } = this.registry;
    if (places.has(session)) throw new AppError('conflict', 'The session has a sandbox already.');
    if (places.size >= this.config.maxSandboxes) {
      throw new AppError(
        'limit_reached',
        `All ${this.config.maxSandboxes} sandboxes are taken: stop a session, or raise BELAY_MAX_SANDBOXES.`,
      );
    }
    const place: Place = {
      sandbox: undefined,
      begun: false,
      stopped: false,
      settled: Promise.resolve(),
    };
    places.set(session, place);
    const starting = this.starter.start(place, assignment, workspaceTar);
    place.settled = starting.catch(() => {});
    await starting;
  }

  /** The agent of a session, while its container runs; calls wait through a break of its rope. */
  agent(session: string): AgentLink | undefined {
    return this.registry.places.get(session)?.sandbox?.link;
  }

  state(session: string): SandboxState {
    const place = this.registry.places.get(session);
    if (!place) return 'none';
    if (!place.begun) return 'starting';
    return place.sandbox?.link?.connected ? 'connected' : 'lost';
  }

  /** Ends the container and keeps its files for a restart. */
  async stop(session: string): Promise<void> {
    const place = this.registry.places.get(session);
    if (!place) return;
    place.stopped = true;
    if (!place.begun) {
      place.sandbox?.end(new AppError('cancelled', 'The start was cancelled.'));
      await place.settled;
      return;
    }
    const { sandbox } = place;
    if (!sandbox) return;
    sandbox.ending = true;
    await this.shutDown(sandbox);
    await this.clear(sandbox, { volumes: false });
  }

  /** Ends the container and deletes its files. */
  async remove(session: string): Promise<void> {
    const place = this.registry.places.get(session);
    if (place && !place.begun) await this.stop(session);
    if (place?.sandbox) await this.clear(place.sandbox, { volumes: true });
    await this.burials.get(session);
    const record = await this.records.find(session);
    if (record) await this.launcher.removeVolumes(record.volumes);
    await this.records.remove(session);
  }

  /** Hears of each sandbox that ends by itself, with a sentence that names the cause; also of earlier ones. */
  onLost(listener: LostListener): void {
    this.listeners.add(listener);
    for (const [session, reason] of this.losses.splice(0)) listener(session, reason);
  }

  checks(): Promise<Check[]> {
    return this.doctor.checks();
  }

  /** For metrics: sandboxes by what they do, and starts so far. */
  get counts(): {
    connected: number;
    starting: number;
    lost: number;
    warm: number;
    started: number;
    failed: number;
  } {
    const counts = { connected: 0, starting: 0, lost: 0 };
    for (const session of this.registry.places.keys()) {
      const state = this.state(session);
      if (state !== 'none') counts[state]++;
    }
    return { ...counts, warm: this.pool.size, ...this.starter.totals };
  }

  private watch(sandbox: Sandbox): void {
    this.registry.add(sandbox);
    sandbox.onBreak = () => void this.lookAfter(sandbox);
  }

  private async lookAfter(sandbox: Sandbox): Promise<void> {
    await delay(breakPatience, undefined, { ref: false });
    if (sandbox.ending || this.closing || sandbox.rope?.connected) return;
    // An engine that does not answer is looked through when it is back.
    const exit = await this.docker.exit(sandbox.container).catch(() => null);
    if (exit !== null) await this.died(sandbox);
  }

  private async died(sandbox: Sandbox): Promise<void> {
    if (sandbox.ending || this.closing) return;
    sandbox.ending = true;
    const { session } = sandbox;
    const begun = session !== null && this.registry.places.get(session)?.begun === true;
    const reason = await this.causeOf(sandbox);
    const error = new AppError('unavailable', reason);
    this.pool.drop(sandbox);
    sandbox.end(error);
    // One that dies while it is being started is cleared by who starts it.
    if (session !== null && !begun) return;
    const burial = this.bury(sandbox, { volumes: session === null, reason: error });
    if (session !== null) {
      // Said at once: on a busy machine the removal takes its time.
      this.registry.drop(sandbox);
      this.burials.set(session, burial);
      this.tell(session, reason);
    }
    await burial;
    if (session !== null && this.burials.get(session) === burial) this.burials.delete(session);
  }

  private async causeOf(sandbox: Sandbox): Promise<string> {
    try {
      const exit = await this.docker.exit(sandbox.container);
      const printed = exit ? await this.docker.lastLines(sandbox.container, 3) : '';
      const lastLine = printed.split('\n').at(-1)?.trim().slice(0, 300) ?? '';
      return causeOfDeath(exit ?? undefined, { lastLine, memoryMb: this.config.memoryMb });
    } catch {
      return causeOfDeath(undefined, { lastLine: '', memoryMb: this.config.memoryMb });
    }
  }

  private tell(session: string, reason: string): void {
    if (this.listeners.size === 0) this.losses.push([session, reason]);
    for (const listener of this.listeners) listener(session, reason);
  }

  /** Lets the agent write what is left. */
  private async shutDown(sandbox: Sandbox): Promise<void> {
    if (!sandbox.link?.connected) return;
    const signal = AbortSignal.timeout(farewell.shutdown);
    // One that cannot answer is killed like one that does not want to.
    await sandbox.link.call('shutdown', {}, { signal }).catch(() => {});
    const end = Date.now() + farewell.exit;
    while (Date.now() < end && (await this.docker.exit(sandbox.container)) === null) {
      await delay(50);
    }
  }

  /** Removes what belongs to a sandbox; its session may have another one then. Throws, and keeps it, when the engine fails. */
  private async clear(
    sandbox: Sandbox,
    what: { volumes: boolean; reason?: AppError },
  ): Promise<void> {
    try {
      await this.sidecars.remove(sandbox.id);
      await this.launcher.dispose(sandbox, what);
    } catch (error) {
      sandbox.ending = false;
      throw error;
    }
    this.registry.drop(sandbox);
  }

  /** Like `clear`, for what has ended already: what cannot be removed now is removed when the engine is back. */
  private async bury(
    sandbox: Sandbox,
    what: { volumes: boolean; reason: AppError },
  ): Promise<void> {
    try {
      await this.clear(sandbox, what);
    } catch (error) {
      this.logger.warn(errorFrom(error).message);
      sandbox.ending = true;
      sandbox.end(what.reason);
      this.registry.drop(sandbox);
    }
  }
}
