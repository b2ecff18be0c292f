import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { EventLog } from '../../logs/event-log.js';
import type { Sandbox } from './sandbox.js';
import { Sandboxes } from './sandboxes.js';

/** Agents usually reconnect sooner, also after a restart of the server. */
const reportDelayMs = 1_500;

/** Shows which sessions’ agents cannot be reached. */
@Injectable()
export class AbsenceWatch {
  constructor(
    sandboxes: Sandboxes,
    private readonly log: EventLog,
  ) {
    sandboxes.on('awaited', (sandbox) => void this.#lookLater(sandbox));
    sandboxes.on('disconnected', (sandbox) => void this.#lookLater(sandbox));
    for (const event of ['connected', 'removed'] as const)
      sandboxes.on(event, ({ session }) => {
        if (session !== null) this.log.absences.end(session);
      });
  }

  async #lookLater(sandbox: Sandbox): Promise<void> {
    await delay(reportDelayMs, undefined, { ref: false });
    if (sandbox.session !== null && sandbox.state === 'lost')
      this.log.absences.begin(sandbox.session);
  }
}
