import { Injectable } from '@nestjs/common';
import type { SessionAgent, SessionSummary } from '@belay/protocol';

/** What restricts a session: the settings of a new one, or its summary. */
export interface Restriction extends Pick<SessionSummary, 'machine'> {
  agent?: SessionAgent | null | undefined;
}

/**
 * The sessions that not everyone who sees them may operate, for checks of rights. On a bare machine, nothing confines
 * the programs that one runs; in a sandbox with a user’s own sign-in, one can read the credential. Taken from the log.
 */
@Injectable()
export class RestrictedSessions {
  readonly #machines = new Map<string, string>();
  readonly #users = new Map<string, string>();

  add(session: string, { machine, agent }: Restriction): void {
    if (machine?.kind === 'bare') this.#machines.set(session, machine.name);
    if (agent?.login !== undefined) this.#users.set(session, agent.login);
  }

  /** The bare machine of a session, by name; undefined for one that is on none. */
  machineOf(session: string): string | undefined {
    return this.#machines.get(session);
  }

  /** The user whose sign-in a session uses, by id; undefined for one without a sign-in. */
  userOf(session: string): string | undefined {
    return this.#users.get(session);
  }
}
