import { Injectable } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import { SessionService } from '../../sessions/session.service.js';
import type { RunRecord } from '../run-record.js';
import { RunsStore } from './runs.store.js';

/**
 * Tells runs to end. That is stored before the session is stopped, and the session is stopped by whoever sees it: the run
 * then ends with what was stored, also if the server is killed between.
 */
@Injectable()
export class RunStops {
  constructor(
    private readonly runs: RunsStore,
    private readonly sessions: SessionService,
  ) {}

  /** False if the run is in another state by now. The first reason stays. */
  async tell(run: RunRecord, { code, why }: { code: string; why: string }): Promise<boolean> {
    return run.code !== null || this.runs.change(run, { code, why });
  }

  /** Stopping a session that has ended, or was deleted, changes nothing. */
  async stop(session: string): Promise<void> {
    await this.sessions.stop(session).catch((error: unknown) => {
      if (errorFrom(error).code !== 'not_found') throw error;
    });
  }
}
