import { Injectable } from '@nestjs/common';

/**
 * The sessions whose agents use a user’s own sign-in: whoever operates one can read the credential in its sandbox. They
 * are taken from the log, for checks of rights.
 */
@Injectable()
export class SignedInSessions {
  /** The user of each session, by id. */
  readonly #users = new Map<string, string>();

  add(session: string, user: string): void {
    this.#users.set(session, user);
  }

  /** Undefined for a session without a sign-in. */
  userOf(session: string): string | undefined {
    return this.#users.get(session);
  }
}
