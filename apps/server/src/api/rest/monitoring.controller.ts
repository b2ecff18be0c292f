import { Res, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { api } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { Response } from 'express';
import { sql } from 'kysely';
import { ContainerHost } from '@belay/containers';
import { EventLog } from '../../logs/event-log.js';
import { Database } from '../../storage/database.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.monitoring>;

/** Checks of the engine are slow, so their last result is cached for this long. */
const engineMs = 10_000;
/** A database that takes longer counts as one that does not respond, so that probes get an answer. */
const databaseMs = 2_000;

@RestController(api.monitoring)
export class MonitoringController implements OnApplicationBootstrap, OnModuleDestroy {
  #engine: { at: number; ok: boolean | null } = { at: 0, ok: null };
  #draining = false;
  #responds: Promise<boolean> | undefined;

  constructor(
    private readonly database: Database,
    private readonly log: EventLog,
    private readonly host: ContainerHost,
  ) {}

  onApplicationBootstrap(): void {
    this.#lookAtEngine();
  }

  /** The first step of a shutdown: requests are still answered until the services have ended their work. */
  onModuleDestroy(): void {
    this.#draining = true;
  }

  /** Open to all and fast: whether the server works and has disk space, and the last known state of the engine. */
  async health(_input: Inputs['health'], @Res({ passthrough: true }) response: Response) {
    this.#lookAtEngine();
    const database = await this.#databaseResponds();
    const diskSpace = !this.log.stalls.any;
    const ok = database && diskSpace;
    if (!ok) response.status(503);
    return { ok, database, diskSpace, engine: this.#engine.ok };
  }

  /** Asks nothing, because a restart does not repair a database. */
  live(_input: Inputs['live']): { ok: true } {
    return { ok: true };
  }

  /** Open to all, so the reasons name nothing of this machine. */
  async ready(_input: Inputs['ready'], @Res({ passthrough: true }) response: Response) {
    this.#lookAtEngine();
    const database = await this.#databaseResponds();
    const { ok: engine } = this.#engine;
    const draining = this.#draining;
    const ready = database && engine !== null && !draining;
    if (!ready) response.status(503);
    const reasons = [
      ...(draining ? ['The server is shutting down.'] : []),
      ...(database ? [] : ['The database does not respond, or its tables are being migrated.']),
      ...(engine === null ? ['The container engine has not responded yet.'] : []),
      ...(engine === false ? [withoutEngine] : []),
    ];
    return { ready, database, engine, draining, reasons };
  }

  /** One question at a time: probes are open to all, and each would wait while the database does not respond. */
  #databaseResponds(): Promise<boolean> {
    this.#responds ??= this.#askDatabase().finally(() => (this.#responds = undefined));
    return inTime(this.#responds, databaseMs, () => false);
  }

  #askDatabase(): Promise<boolean> {
    const asked = this.database.migrated().then(() => sql`select 1`.execute(this.database.kysely));
    return asked.then(
      () => true,
      () => false,
    );
  }

  #lookAtEngine(): void {
    const now = Date.now();
    if (now - this.#engine.at < engineMs) return;
    this.#engine = { at: now, ok: this.#engine.ok };
    this.host.checks().then(
      ([engine]) => (this.#engine.ok = engine?.ok ?? false),
      () => (this.#engine.ok = false),
    );
  }
}

const withoutEngine =
  'The container engine does not respond, so no sandbox starts on this machine: run “belay doctor”.';
