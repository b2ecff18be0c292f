import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ignoreError, isEnded, isEvent, type Event, type SessionSummary } from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { Exports } from './exports.js';
import { SandboxSlots } from './sandbox-slots.js';
import { SessionChecks } from './session-checks.js';

/**
 * Handles the ends of sessions: stores the patch, runs the check command, and lets the sandbox linger until the session
 * is archived.
 */
@Injectable()
export class SessionEnds implements OnApplicationBootstrap {
  readonly #logger = new Logger(SessionEnds.name);

  constructor(
    private readonly log: EventLog,
    private readonly slots: SandboxSlots,
    private readonly exports: Exports,
    private readonly checks: SessionChecks,
  ) {}

  onApplicationBootstrap(): void {
    this.log.subscribeAll((session, events, summary) => this.#follow(session, events, summary));
  }

  #follow(session: string, events: Event[], { agent, check, archived }: SessionSummary): void {
    if (events.some(({ action }) => action === 'start')) this.checks.cancel(session);
    if (archived && events.some((event) => isEvent(event, 'change'))) this.#putAway(session);
    const last = events.findLast((event) => isEvent(event, 'state'));
    if (!last || !isEvent(last, 'state')) return;
    const { state } = last.args;
    if (!isEnded(state) || state === 'stopped') return;
    const kept = this.#keepPatch(session);
    if (agent?.login !== undefined) return this.#endSignedIn(session, { kept, check });
    // The sandbox is needed until the check has ended.
    if (check === null) this.slots.linger(session);
    else void kept.then(() => this.checks.run(session));
  }

  /** The sandbox with a user’s own sign-in ends at once; the check runs, and files are read, in one without it. */
  #endSignedIn(
    session: string,
    { kept, check }: Pick<SessionSummary, 'check'> & { kept: Promise<void> },
  ): void {
    const end = async (): Promise<void> => {
      // A message that starts it again meanwhile starts another sandbox.
      await this.slots.halt(session, () => kept);
      if (check !== null && isEnded((await this.log.summary(session)).state))
        await this.checks.run(session);
    };
    void end().catch((error: unknown) => this.#logger.warn(error));
  }

  /** The patch may still be read from the sandbox. */
  #putAway(session: string): void {
    void this.slots
      .endLingering(session, () => this.#keepPatch(session))
      .catch(ignoreError('an engine that does not respond keeps the sandbox, and it lingers on'));
  }

  /** Never rejects. */
  #keepPatch(session: string): Promise<void> {
    return this.exports.keepPatch(session).catch((error: unknown) => this.#logger.warn(error));
  }
}
