import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';

const signIn = z.object({
  /** A caller’s `userOf`. */
  user: z.string(),
  /** The name of the agent. */
  agent: z.string(),
  /** The volume of the engine with the agent’s home, which has the credential. */
  volume: z.string(),
  /** The session that uses it, or was the last to: the sandboxes of all others do not get the volume. */
  session: z.string(),
});
export type SignIn = z.output<typeof signIn>;

/** Whose sign-in, to which agent. */
export type SignInOf = Pick<SignIn, 'user' | 'agent'>;

/**
 * Users’ own sign-ins to agents, without any credential: those are in volumes. Each belongs to one session, because a
 * vendor’s tokens for renewal are worth a single use.
 */
@Injectable()
export class SignInStore {
  readonly #document: Document<z.ZodArray<typeof signIn>>;

  constructor(
    private readonly config: Config,
    documents: Documents,
  ) {
    this.#document = documents.open('sign-ins', z.array(signIn), []);
  }

  all(): readonly SignIn[] {
    return this.#document.value;
  }

  find(of: SignInOf): SignIn | undefined {
    return this.#document.value.find((one) => isOf(one, of));
  }

  /** The sign-in that a session may use now. */
  ofSession(session: string): SignIn | undefined {
    return this.#document.value.find((one) => one.session === session);
  }

  /**
   * Gives a sign-in, which may be new, to a session, if it still is with `before`. Throws `conflict` when another one
   * was faster.
   */
  give(
    of: SignInOf,
    { session, before }: { session: string; before: string | undefined },
  ): Promise<void> {
    const { user, agent } = of;
    return this.#document.change((all) => {
      if (all.find((one) => isOf(one, of))?.session !== before) throw signInInUse(agent);
      const others = all.filter((one) => !isOf(one, of));
      return [...others, { user, agent, volume: this.#volumeName(of), session }];
    });
  }

  forget(of: SignInOf): Promise<void> {
    return this.#document.change((all) => all.filter((one) => !isOf(one, of)));
  }

  #volumeName({ user, agent }: SignInOf): string {
    return ['belay-login', this.config.instance, user.replaceAll(/[^\w.-]/g, '-'), agent].join('-');
  }
}

/** The error for a sign-in that is in use by a session, as far as it is known. */
export const signInInUse = (agent: string, session = 'another session'): AppError =>
  new AppError(
    'conflict',
    `Your sign-in to ${agent} is used by ${session}, and only one session may use it at a time. Stop that one first.`,
  );

const isOf = (one: SignInOf, { user, agent }: SignInOf): boolean =>
  one.user === user && one.agent === agent;
