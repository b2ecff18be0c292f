import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Res } from '@nestjs/common';
import { sessionLogRoutes } from '@belay/protocol';
import type { Response } from 'express';
import { StoredLog } from '../../proof/stored-log.js';
import { SessionService } from '../../sessions/session.service.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof sessionLogRoutes>;

@RestController(sessionLogRoutes)
export class SessionLogController {
  constructor(
    private readonly sessions: SessionService,
    private readonly log: StoredLog,
  ) {}

  async storedLog(
    { params: { id }, query: { contents } }: Inputs['storedLog'],
    @Res() response: Response,
  ): Promise<void> {
    await this.sessions.summary(id);
    response.type('application/x-ndjson');
    const lines = Readable.from(this.log.lines(id, contents));
    // A failure after the first line can only be reported by truncating the body: that line says how long it is.
    await pipeline(lines, response).catch((error: unknown) => {
      if (!response.headersSent) throw error;
    });
  }
}
