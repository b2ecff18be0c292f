import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import { labels } from './container-spec.js';
import { ContainerLauncher } from './container-launcher.js';
import { dockerError } from './docker-errors.js';
import { DockerClient, type EngineEvent, type FoundContainer } from './docker.client.js';
import { Sandbox } from './sandbox.js';
import { SandboxRecords, type SandboxRecord } from './sandbox-records.store.js';
import { SandboxRegistry } from './sandbox-registry.js';

/** What the reconciler finds out. */
export interface Findings {
  /** A known sandbox's container is not running any more. Never rejects. */
  died(sandbox: Sandbox): Promise<void>;
  /** The container of a session ended while no server was there. */
  lost(sandbox: Sandbox, session: string): Promise<void>;
}

/** Milliseconds before the engine is asked again: after its event stream ended, and at most while it is away. */
const retry = { first: 200, most: 2_000 };

/**
 * Keeps what the server knows in step with what runs: adopts what a former server left, removes what nobody
 * needs, and notices what dies. An engine that goes away and comes back is looked through again.
 */
@Injectable()
export class Reconciler {
  private readonly logger = new Logger(Reconciler.name);
  private readonly closing = new AbortController();
  private following: Promise<void> | undefined;
  private adopted = false;

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly launcher: ContainerLauncher,
    private readonly records: SandboxRecords,
    private readonly registry: SandboxRegistry,
    private readonly log: EventLog,
  ) {}

  /** Resolves after the first look, also when the engine does not answer; then follows it until `close`. */
  async start(findings: Findings): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.following = this.follow(findings, resolve);
    await promise;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.following;
  }

  private async follow(findings: Findings, looked: () => void): Promise<void> {
    const { signal } = this.closing;
    let pause: number = retry.first;
    let away = false;
    while (!signal.aborted) {
      try {
        // Followed first and looked through then: nothing happens in between unseen.
        const events = await this.docker.events(this.label, signal);
        await (this.adopted ? this.check(findings) : this.adoptAll(findings));
        if (away) this.logger.log('Docker is back.');
        away = false;
        looked();
        pause = retry.first;
        for await (const event of events) this.hear(event, findings);
      } catch (error) {
        if (!away) this.logger.warn(dockerError(error).message);
        away = true;
        looked();
      }
      await delay(pause, undefined, { signal, ref: false }).catch(() => {});
      pause = Math.min(2 * pause, retry.most);
    }
  }

  private get label(): string {
    return `${labels.instance}=${this.config.instance}`;
  }

  private hear({ action, labels: of }: EngineEvent, findings: Findings): void {
    if (action !== 'die' && action !== 'destroy') return;
    const sandbox = this.registry.sandboxes.get(of[labels.sandbox] ?? '');
    if (sandbox && !sandbox.ending) void findings.died(sandbox);
  }

  /** After a time without events: whoever is not running any more has died meanwhile, and nobody's goes. */
  private async check(findings: Findings): Promise<void> {
    const containers = await this.docker.list(this.label);
    const running = new Set(containers.filter((one) => one.running).map(({ id }) => id));
    for (const sandbox of this.registry.sandboxes.values()) {
      const made = sandbox.container !== '' && (sandbox.link || sandbox.rope);
      if (made && !sandbox.ending && !running.has(sandbox.container)) await findings.died(sandbox);
    }
    const records = await this.validRecords();
    for (const container of containers) {
      const isKnown = this.registry.sandboxes.has(container.labels[labels.sandbox] ?? '');
      if (!isKnown && !this.belongs(container, records)) await this.docker.remove(container.id);
    }
    // Those of a start that the engine broke off; what is just being made may hold them.
    if (this.launcher.busy === 0) await this.removeVolumes();
  }

  /** The first look: what a former server left. */
  private async adoptAll(findings: Findings): Promise<void> {
    const containers = await this.docker.list(this.label);
    const records = await this.validRecords();
    for (const container of containers) {
      const id = container.labels[labels.sandbox];
      if (id !== undefined && this.registry.sandboxes.has(id)) continue;
      const record = records.find((one) => one.sandbox === id);
      const isCurrent = record !== undefined && (await this.isCurrent(record));
      if (isCurrent) await this.takeOver(container, record, findings);
      else if (!this.belongs(container, records)) {
        await this.docker.remove(container.id);
        if (id !== undefined) await this.launcher.removeFolder(id);
      }
    }
    await this.removeVolumes();
    this.adopted = true;
  }

  /** Records of sessions that are still there and whose files are worth keeping; the others are removed. */
  private async validRecords(): Promise<SandboxRecord[]> {
    const valid: SandboxRecord[] = [];
    for (const record of await this.records.all()) {
      if (this.registry.places.has(record.session)) valid.push(record);
      else if (record.begun && (await this.epoch(record.session)) !== undefined) valid.push(record);
      else await this.records.remove(record.session);
    }
    return valid;
  }

  private async isCurrent(record: SandboxRecord): Promise<boolean> {
    return record.begun && (await this.epoch(record.session)) === record.epoch;
  }

  private async epoch(session: string): Promise<number | undefined> {
    try {
      return await this.log.epoch(session);
    } catch (error) {
      if (errorFrom(error).code === 'not_found') return undefined;
      throw error;
    }
  }

  private async takeOver(
    container: FoundContainer,
    record: SandboxRecord,
    findings: Findings,
  ): Promise<void> {
    const sandbox = new Sandbox(record.sandbox, record.volumes);
    sandbox.container = container.id;
    sandbox.assign(record.session, record.epoch);
    if (!container.running) return findings.lost(sandbox, record.session);
    sandbox.adopted = true;
    this.registry.add(sandbox);
    this.registry.places.set(record.session, {
      sandbox,
      begun: true,
      stopped: false,
      settled: Promise.resolve(),
    });
    await this.launcher.adopt(sandbox);
  }

  /** A browser whose sandbox goes on stays; what is just being made by this server is known by its sandbox. */
  private belongs(container: FoundContainer, records: SandboxRecord[]): boolean {
    const beside = container.labels[labels.sidecar];
    if (beside !== undefined) return records.some((one) => one.sandbox === beside);
    return container.labels[labels.sandbox] === undefined && this.launcher.busy > 0;
  }

  private async removeVolumes(): Promise<void> {
    // Asked for first: a sandbox is known before its volumes are made.
    const labelled = await this.docker.volumes(this.label);
    const found = new Set([...labelled, ...this.launcher.unremoved]);
    const known = [...(await this.validRecords()), ...this.registry.sandboxes.values()];
    const needed = new Set(known.flatMap(({ volumes }) => [volumes.workspace, volumes.state]));
    for (const name of found) if (!needed.has(name)) await this.launcher.removeVolume(name);
  }
}
