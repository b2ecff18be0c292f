import { Injectable } from '@nestjs/common';
import type { StartPayload } from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { SignIns } from './sign-ins.js';

/** What the agents of sessions begin with. */
@Injectable()
export class StartPayloads {
  constructor(
    private readonly log: EventLog,
    private readonly signIns: SignIns,
  ) {}

  /** Whether the session uses its user’s own sign-in, which its sandbox gets when it starts. */
  async isSignedIn(session: string): Promise<boolean> {
    return (await this.log.settings(session)).agent?.login !== undefined;
  }

  /**
   * Raises the session’s epoch. A session that stays asleep does not get the sign-in of its agent, which nothing would
   * use.
   */
  async next(session: string, { isAsleep }: { isAsleep: boolean }): Promise<StartPayload> {
    const epoch = await this.log.nextEpoch(session);
    const { agent, ...others } = await this.log.settings(session);
    const isSignedIn = agent?.login !== undefined;
    if (isSignedIn && !isAsleep) await this.signIns.take(session, agent);
    const settings = { ...others, ...(agent && !(isSignedIn && isAsleep) && { agent }) };
    const events = await this.log.read(session, { after: 0 });
    return { session, settings, events, epoch };
  }
}
