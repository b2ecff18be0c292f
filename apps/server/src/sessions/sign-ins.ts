import { Injectable, Logger } from '@nestjs/common';
import { AppError, errorFrom, isEnded, newEvent, type SessionAgent } from '@belay/protocol';
import { lease } from '../storage/lease.js';
import type { OnLead } from '../storage/on-lead.js';
import { CallerEnds } from '../access/caller-ends.js';
import { UsersStore } from '../access/users.store.js';
import { AgentVolumes } from '../agents/agent-volumes.js';
import { signInInUse, SignInStore, type SignIn, type SignInOf } from '../agents/sign-in.store.js';
import { stateMessage } from '../logs/consequences.js';
import { EventLog } from '../logs/event-log.js';
import { SandboxSlots } from './sandbox-slots.js';

/** Which session uses a user’s own sign-in to an agent: one at a time, until it has ended. */
@Injectable()
export class SignIns implements OnLead {
  readonly #logger = new Logger(SignIns.name);

  constructor(
    private readonly log: EventLog,
    private readonly store: SignInStore,
    private readonly slots: SandboxSlots,
    private readonly volumes: AgentVolumes,
    private readonly users: UsersStore,
    ends: CallerEnds,
  ) {
    // All servers learn of it.
    ends.onLoss(() => {
      if (lease.isHeld) void this.#removeOfNobody();
    });
  }

  /** Also those of users who were removed while the engine did not respond. */
  onLead(): void {
    void this.#removeOfNobody();
  }

  /** Throws `conflict` while a session other than this one uses the sign-in. */
  async assertFree(of: SignInOf, session?: string): Promise<void> {
    const holder = this.store.find(of)?.session;
    if (holder === undefined || holder === session) return;
    if (await this.#works(holder)) throw signInInUse(of.agent, `the session ${holder}`);
  }

  /** Gives the sign-in of a session’s agent to it, before its sandbox starts. Throws as `assertFree` does. */
  async take(session: string, { name, login = '' }: SessionAgent): Promise<void> {
    if (this.users.isRemoved(login)) throw new AppError('conflict', userIsGone);
    const of = { user: login, agent: name };
    await this.assertFree(of, session);
    const before = this.store.find(of)?.session;
    await this.#release(before, session);
    await this.store.give(of, { session, before });
  }

  /** Removes the sign-in with all that the agent keeps in that home. Throws `not_found`, and as `assertFree` does. */
  async remove(of: SignInOf): Promise<void> {
    const found = this.store.find(of);
    if (!found)
      throw new AppError(
        'not_found',
        `You are not signed in to ${of.agent}, so there is nothing to remove.`,
      );
    await this.assertFree(of);
    await this.#remove(found);
  }

  async #remove(signIn: SignIn): Promise<void> {
    await this.#release(signIn.session);
    await this.volumes.remove(signIn.volume);
    await this.store.forget(signIn);
  }

  /** Removes the sign-ins of users who exist no longer, whose sessions end with them. */
  async #removeOfNobody(): Promise<void> {
    for (const signIn of this.store.all()) {
      if (!this.users.isRemoved(signIn.user)) continue;
      await this.#removeFrom(signIn).catch((error: unknown) => {
        const { message } = errorFrom(error);
        this.#logger.warn(`A removed user’s sign-in to ${signIn.agent} is still there: ${message}`);
      });
    }
  }

  async #removeFrom(signIn: SignIn): Promise<void> {
    const { session } = signIn;
    const args = { state: 'failed', reason: userIsGone } as const;
    const failed = () => [newEvent('server', 'state', { args, message: stateMessage(args) })];
    if (await this.#works(session)) await this.log.append(session, failed);
    await this.#remove(signIn);
  }

  /** Waits until nothing of an ended session’s sandbox runs any more. */
  async #release(holder: string | undefined, by?: string): Promise<void> {
    if (holder !== undefined && holder !== by) await this.slots.halt(holder);
  }

  async #works(session: string): Promise<boolean> {
    try {
      return !isEnded((await this.log.summary(session)).state);
    } catch (error) {
      if (errorFrom(error).code === 'not_found') return false;
      throw error;
    }
  }
}

const userIsGone =
  'The user who signed in for this session was removed. Fork it with another agent and a model.';
