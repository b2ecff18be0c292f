import { Injectable } from '@nestjs/common';
import {
  AppError,
  newEvent,
  ignoreError,
  isEnded,
  type Event,
  type EventArgs,
  type NewEvent,
  type NewMessage,
  type SessionSummary,
} from '@belay/protocol';
import { sees, type Caller } from '../access/caller.js';
import { AttachedPictures } from '../logs/attached-pictures.js';
import { EventLog } from '../logs/event-log.js';
import { isDiskFull } from '../logs/stalls.js';
import { AgentAndModel } from './agent-and-model.js';
import { Exports } from './exports.js';
import { SandboxSlots } from './sandbox-slots.js';
import { startEvent } from './start-event.js';
import { StartQueue } from './start-queue.js';

/** How long a stopped agent has to write its last changes. */
const stopTimeoutMs = 5_000;

/** User actions on existing sessions: each is stored as events, and the sandbox is changed accordingly. */
@Injectable()
export class SessionService {
  constructor(
    private readonly log: EventLog,
    private readonly choice: AgentAndModel,
    private readonly queue: StartQueue,
    private readonly slots: SandboxSlots,
    private readonly exports: Exports,
    private readonly pictures: AttachedPictures,
  ) {}

  /** All sessions that the caller sees, the newest first. */
  async list(caller: Caller): Promise<SessionSummary[]> {
    return (await this.all()).filter(({ id }) => sees(caller, id));
  }

  /** The newest first. */
  async all(): Promise<SessionSummary[]> {
    return newestFirst(await this.log.summaries());
  }

  summary(id: string): Promise<SessionSummary> {
    return this.log.summary(id);
  }

  async events(id: string, range: { after: number; limit?: number }): Promise<Event[]> {
    await this.log.summary(id);
    return this.log.read(id, range);
  }

  /** Also resumes a session that has ended. */
  async message(id: string, message: NewMessage, caller: Caller): Promise<void> {
    await this.pictures.assertMayAttach(caller, message.images);
    const written = newEvent('user', 'message', { args: message, message: message.text });
    let startsAgain = false;
    await this.log.append(id, ({ state }, settings) => {
      startsAgain = isEnded(state);
      return startsAgain ? [startEvent(settings, true), written] : [written];
    });
    if (startsAgain) await this.queue.resume(id);
  }

  /** Changes a queued message. Throws `not_found`, or `conflict` when it can no longer be changed. */
  editMessage(id: string, message: number, text: string): Promise<void> {
    return this.log.messages.edit({ session: id, message }, text);
  }

  withdrawMessage(id: string, message: number): Promise<void> {
    return this.log.messages.withdraw({ session: id, message });
  }

  async pause(id: string): Promise<void> {
    await this.log.append(id, (summary) => {
      refuseEnded(summary);
      return summary.state === 'paused' ? [] : [bare('pause', 'Paused.')];
    });
  }

  /** Like `pause`, but breaks off what the agent is doing. */
  async interrupt(id: string): Promise<void> {
    await this.log.append(id, (summary) => {
      refuseEnded(summary);
      if (summary.state === 'paused') return [];
      return [newEvent('user', 'pause', { args: { now: true }, message: 'Interrupted.' })];
    });
  }

  async resume(id: string): Promise<void> {
    await this.log.append(id, (summary) => {
      refuseEnded(summary);
      if (summary.state === 'paused') return [bare('resume', 'Resumed.')];
      return summary.modelError ? [bare('resume', 'Trying the model again.')] : [];
    });
  }

  /**
   * Stopping an ended session changes nothing. The sandbox ends in the background; its files are kept. A stop also
   * works with a full disk, and is stored once there is space.
   */
  async stop(id: string): Promise<void> {
    const stop = () =>
      this.log.append(id, ({ state }) =>
        isEnded(state) ? [] : [bare('stop', 'Stopped by the user.')],
      );
    try {
      const events = await stop();
      if (events.length > 0) void this.#halt(id);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      void this.#halt(id);
      void this.log.stalls
        .stopWhenSpace(id, stop)
        .catch(ignoreError('the sandbox is ending anyway'));
    }
  }

  /** Starts an ended session again, from its log, in a new sandbox with its files. */
  async restart(id: string): Promise<void> {
    await this.choice.check(await this.log.summary(id));
    await this.log.append(id, ({ state }, settings) => {
      if (!isEnded(state)) {
        throw new AppError('conflict', `The session is ${state}: stop it before a restart.`);
      }
      this.slots.startHalting(id);
      return [startEvent(settings, true)];
    });
    this.queue.add(id);
  }

  /** Starts the sandbox of an ended session, if there is none, so that its files can be read and changed. */
  async wake(id: string): Promise<void> {
    if (isEnded((await this.log.summary(id)).state)) await this.queue.wakeIfGone(id);
  }

  async change(id: string, change: EventArgs<'change'>, caller: Caller): Promise<SessionSummary> {
    const { model, budgets } = change;
    if (model !== undefined) {
      const { agent } = await this.log.settings(id);
      await this.choice.assertMayCall(agent, model, { caller, budgets });
    }
    const names = Object.keys(change).join(', ').replace('egress', 'network');
    const message = change.model ? `Changed the model to ${change.model}.` : `Changed ${names}.`;
    if (names) await this.log.append(id, [newEvent('user', 'change', { args: change, message })]);
    return this.log.summary(id);
  }

  async #halt(id: string): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, stopTimeoutMs).unref());
    const kept = () =>
      Promise.race([
        this.exports
          .keepPatch(id)
          .catch(ignoreError('it is reported when the files are requested')),
        late,
      ]);
    await this.queue.halt(id, kept).catch(ignoreError('the sandbox is ending anyway'));
  }
}

export function newestFirst(summaries: SessionSummary[]): SessionSummary[] {
  return summaries.toSorted(
    (a, b) => b.created.localeCompare(a.created) || b.id.localeCompare(a.id),
  );
}

const bare = (action: 'pause' | 'resume' | 'stop', message: string): NewEvent =>
  newEvent('user', action, { args: {}, message });

function refuseEnded({ state }: SessionSummary): void {
  if (isEnded(state)) {
    throw new AppError('conflict', `The session is ${state}: restart it or write to it.`);
  }
}
