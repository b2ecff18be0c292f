import { Injectable } from '@nestjs/common';
import { AppError, errorFrom, isEnded, type SessionAgent } from '@belay/protocol';
import { AgentVolumes } from '../agents/agent-volumes.js';
import { inUse, SignInStore, type SignInOf } from '../agents/sign-in.store.js';
import { EventLog } from '../logs/event-log.js';
import { SandboxSlots } from './sandbox-slots.js';

/** Which session uses a user’s own sign-in to an agent: one at a time, until it has ended. */
@Injectable()
export class SignIns {
  constructor(
    private readonly log: EventLog,
    private readonly store: SignInStore,
    private readonly slots: SandboxSlots,
    private readonly volumes: AgentVolumes,
  ) {}

  /** Throws `conflict` while a session other than this one uses the sign-in. */
  async assertFree(of: SignInOf, session?: string): Promise<void> {
    const holder = this.store.find(of)?.session;
    if (holder === undefined || holder === session) return;
    if (await this.#works(holder)) throw inUse(of.agent, `the session ${holder}`);
  }

  /** Gives the sign-in of a session’s agent to it, before its sandbox starts. Throws as `assertFree` does. */
  async take(session: string, { name, login = '' }: SessionAgent): Promise<void> {
    const of = { user: login, agent: name };
    await this.assertFree(of, session);
    const before = this.store.find(of)?.session;
    await this.#release(before, session);
    await this.store.give(of, { session, before });
  }

  /** Removes the sign-in with all that the agent keeps in that home. Throws `not_found`, and as `assertFree` does. */
  async remove(of: SignInOf): Promise<void> {
    const found = this.store.find(of);
    if (!found) throw new AppError('not_found', `You are not signed in to ${of.agent}.`);
    await this.assertFree(of);
    await this.#release(found.session);
    await this.volumes.remove(found.volume);
    await this.store.forget(of);
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
