import { Req, Res, type OnApplicationBootstrap } from '@nestjs/common';
import { api } from '@belay/protocol';
import type { Request, Response } from 'express';
import { sql } from 'kysely';
import { ContainerHost } from '@belay/containers';
import { EventLog } from '../../logs/event-log.js';
import { Database } from '../../storage/database.js';
import { Metrics } from './metrics.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.monitoring>;

/** Checks of the engine are slow, so their last result is cached for this long. */
const engineMs = 10_000;

@RestController(api.monitoring)
export class MonitoringController implements OnApplicationBootstrap {
  #engine: { at: number; ok: boolean | null } = { at: 0, ok: null };

  constructor(
    private readonly database: Database,
    private readonly log: EventLog,
    private readonly host: ContainerHost,
    private readonly counts: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.#lookAtEngine();
  }

  /** Open to all and fast: whether the server works and has disk space, and the last known state of the engine. */
  async health(_input: Inputs['health'], @Res({ passthrough: true }) response: Response) {
    this.#lookAtEngine();
    const database = await sql`select 1`.execute(this.database.kysely).then(
      () => true,
      () => false,
    );
    const diskSpace = !this.log.stalls.any;
    const ok = database && diskSpace;
    if (!ok) response.status(503);
    return { ok, database, diskSpace, engine: this.#engine.ok };
  }

  async metrics(
    _input: Inputs['metrics'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const text = await this.counts.text(callerOf(request));
    response.type(api.monitoring.metrics.response.bytes).send(text);
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
