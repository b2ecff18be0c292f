import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError, type Assignment } from '@belay/protocol';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import type { AgentRope } from './agent-link.js';
import { Backlog } from './backlog.js';
import { ContainerLauncher } from './container-launcher.js';
import type { Sandbox } from './sandbox.js';
import { SandboxRecords, type SandboxRecord } from './sandbox-records.store.js';
import { SandboxRegistry, type Place } from './sandbox-registry.js';
import { WarmPool } from './warm-pool.js';

export type OpenTar = () => Promise<Readable>;

/** How long an agent may take to begin, in milliseconds: its log may be long. */
const beginPatience = 60_000;

/** The way of a session to a sandbox in which its agent has begun. */
@Injectable()
export class Starter {
  readonly totals = { started: 0, failed: 0 };
  /** Hears of each sandbox before anything can happen to it. */
  born: (sandbox: Sandbox) => void = () => {};

  constructor(
    private readonly config: Config,
    private readonly launcher: ContainerLauncher,
    private readonly pool: WarmPool,
    private readonly records: SandboxRecords,
    private readonly registry: SandboxRegistry,
    private readonly log: EventLog,
  ) {}

  /** Whatever fails, the place is given up, and nothing is left but the files that were there before. */
  async start(place: Place, assignment: Assignment, tar: OpenTar | undefined): Promise<void> {
    const { session } = assignment;
    const kept = await this.keptFiles(session);
    try {
      const sandbox = await this.obtain(place, assignment, kept);
      const record = { session, sandbox: sandbox.id, volumes: sandbox.volumes };
      const { epoch } = assignment;
      await this.records.write({ ...record, epoch, begun: kept !== undefined });
      if (tar && !kept) await sandbox.alive(importWorkspace(ropeOf(sandbox), tar));
      await this.begin(sandbox, assignment, () =>
        this.records.write({ ...record, epoch, begun: true }),
      );
      if (place.stopped) throw new AppError('cancelled', 'The start was cancelled.');
      place.begun = true;
      this.totals.started++;
    } catch (error) {
      this.totals.failed++;
      await this.giveUp(place, session, kept);
      throw error;
    }
  }

  /** The files of an earlier sandbox; those of a start that failed half-way are removed. */
  private async keptFiles(session: string): Promise<SandboxRecord | undefined> {
    const record = await this.records.find(session);
    if (!record || record.begun) return record;
    await this.launcher.removeVolumes(record.volumes);
    return undefined;
  }

  private async obtain(
    place: Place,
    { session, settings, epoch }: Assignment,
    kept: SandboxRecord | undefined,
  ): Promise<Sandbox> {
    const image = settings.image ?? this.config.image;
    const wish = { image, profile: settings.sandbox };
    const warm = kept ? undefined : this.pool.claim(wish);
    if (warm) {
      warm.assign(session, epoch);
      place.sandbox = warm;
      return warm;
    }
    const launch = { ...wish, session, epoch, ...(kept && { volumes: kept.volumes }) };
    return this.launcher.launch(launch, (sandbox) => {
      place.sandbox = sandbox;
      this.born(sandbox);
      if (place.stopped) sandbox.end(new AppError('cancelled', 'The start was cancelled.'));
    });
  }

  /** No event is missed between the assignment and the moment when others may call the agent. */
  private async begin(
    sandbox: Sandbox,
    assignment: Assignment,
    begun: () => Promise<void>,
  ): Promise<void> {
    const rope = ropeOf(sandbox);
    const last = assignment.events.at(-1)?.seq ?? 0;
    const backlog = await Backlog.open(this.log, assignment.session, last);
    try {
      const signal = AbortSignal.timeout(beginPatience);
      await sandbox.alive(rope.call('session.begin', assignment, { signal }));
      await begun();
      backlog.handOver(rope);
      sandbox.publish();
    } finally {
      backlog.close();
    }
  }

  private async giveUp(
    place: Place,
    session: string,
    kept: SandboxRecord | undefined,
  ): Promise<void> {
    try {
      const { sandbox } = place;
      if (sandbox) {
        const disposed = this.launcher.dispose(sandbox, { volumes: kept === undefined });
        // What an engine that is away cannot remove is nobody's when it is back: the reconciler removes it.
        await disposed.catch(() => this.launcher.removeFolder(sandbox.id));
        this.registry.drop(sandbox);
      }
      if (kept) await this.records.write(kept);
      else await this.records.remove(session);
    } finally {
      this.registry.places.delete(session);
    }
  }
}

function ropeOf(sandbox: Sandbox): AgentRope {
  if (!sandbox.rope) throw new AppError('internal', 'An agent that never said hello.');
  return sandbox.rope;
}

/** Resolves when the agent has unpacked everything, which it says by ending its side. */
async function importWorkspace(rope: AgentRope, tar: OpenTar): Promise<void> {
  const source = await tar();
  const stream = await rope.open('workspace.import', {});
  stream.resume();
  const unpacked = once(stream, 'end');
  try {
    await Promise.all([pipeline(source, stream), unpacked]);
  } finally {
    source.destroy();
    stream.destroy();
  }
}
