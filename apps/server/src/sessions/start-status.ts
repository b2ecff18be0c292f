import { Injectable } from '@nestjs/common';
import { isEnded, newEvent, type SessionState } from '@belay/protocol';
import { stateMessage, workingState } from '../logs/consequences.js';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';

/** Writes the progress of a start to the log: queued, running, or failed with a reason. */
@Injectable()
export class StartStatus {
  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
  ) {}

  /** Whether the session has ended, so that nothing starts for it. Throws `not_found` for one that was deleted. */
  async isOver(session: string): Promise<boolean> {
    return isEnded((await this.log.summary(session)).state);
  }

  /** Whether the session’s agent has done nothing since its last start. */
  async isAwaited(session: string): Promise<boolean> {
    const start = await this.store.latest(session, 'start');
    return !(await this.store.hasAgentWritten(session, start?.seq ?? 0));
  }

  /** Changes only a session that is still starting: the user may have stopped it meanwhile. */
  async report(session: string, state: SessionState, reason: string | null): Promise<void> {
    const report = () =>
      this.log.append(session, (summary) => {
        if (summary.state !== 'starting') return [];
        if (summary.state === state && summary.reason === reason) return [];
        const begun = state === 'running' ? workingState(summary) : { state, reason };
        const args = { ...begun, reason: begun.reason ?? reason };
        return [newEvent('server', 'state', { args, message: stateMessage(args) })];
      });
    await this.log.stalls.whenSpace(session, report);
  }
}
