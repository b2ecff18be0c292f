import { Controller, Get, Header, Res, type OnApplicationBootstrap } from '@nestjs/common';
import type { Response } from 'express';
import { sql } from 'kysely';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { EventLog } from '../logs/event-log.js';
import { Database } from '../storage/database.js';
import { Open } from './access.js';
import { Metrics } from './metrics.js';

/** Checks of the engine take a while: what they said last is good enough for this long. */
const engineMs = 10_000;

@Controller()
export class HealthController implements OnApplicationBootstrap {
  private engine: { at: number; ok: boolean | null } = { at: 0, ok: null };

  constructor(
    private readonly database: Database,
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.lookAtEngine();
  }

  /** Open to all and quick: whether the server works and has room to write, and what it last heard from the engine. */
  @Get('health')
  @Open()
  async health(@Res({ passthrough: true }) response: Response) {
    this.lookAtEngine();
    const database = await sql`select 1`.execute(this.database.kysely).then(
      () => true,
      () => false,
    );
    const room = !this.log.stalls.any;
    const ok = database && room;
    if (!ok) response.status(503);
    return { ok, database, room, engine: this.engine.ok };
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  read(): Promise<string> {
    return this.metrics.text();
  }

  private lookAtEngine(): void {
    const now = Date.now();
    if (now - this.engine.at < engineMs) return;
    this.engine = { at: now, ok: this.engine.ok };
    this.sandboxes.checks().then(
      ([engine]) => (this.engine.ok = engine?.ok ?? false),
      () => (this.engine.ok = false),
    );
  }
}
