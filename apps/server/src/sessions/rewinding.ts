import { Injectable } from '@nestjs/common';
import {
  isEnded,
  isEvent,
  newEvent,
  undoneMessages,
  type NewEvent,
  type rewindRequest,
  type Rewound,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import { Dispatcher } from './dispatcher.js';
import { LogSteps } from './log-steps.js';
import { SandboxSlots } from './sandbox-slots.js';
import { StartQueue } from './start-queue.js';

/** Returns sessions to an earlier event. */
@Injectable()
export class Rewinding {
  constructor(
    private readonly log: EventLog,
    private readonly steps: LogSteps,
    private readonly dispatcher: Dispatcher,
    private readonly slots: SandboxSlots,
    private readonly queue: StartQueue,
  ) {}

  /** Events after `seq` no longer count. A preview changes nothing. */
  async rewind(
    session: string,
    { seq, what, preview }: z.output<typeof rewindRequest>,
    caller: Caller,
  ): Promise<Rewound> {
    const { state, lastSeq } = await this.steps.checked(session, seq);
    const files =
      what === 'conversation' ? [] : await this.#rewindFiles({ session, seq, preview, caller });
    const messages = what === 'files' ? 0 : await this.#messagesAfter(session, seq);
    if (preview || seq === lastSeq) return { files, messages };
    const message = `Rewound ${what === 'both' ? 'files and conversation' : what} to event ${seq}.`;
    const args = { seq, what, last: lastSeq };
    const plan = what === 'files' ? [] : await this.#planAt(session, seq);
    await this.log.append(session, [newEvent('user', 'rewind', { args, message }), ...plan]);
    if (!isEnded(state) && what !== 'files') this.slots.linger(session);
    return { files, messages };
  }

  /** The plan as it was, if it has changed since. */
  async #planAt(session: string, seq: number): Promise<NewEvent[]> {
    const before = await this.steps.planAt(session, seq);
    const now = await this.steps.planAt(session);
    if (before === now) return [];
    const args = { markdown: before };
    return [newEvent('server', 'plan', { args, message: `The plan as of event ${seq}.` })];
  }

  /** The messages that still count and that a rewind of the conversation would undo. */
  async #messagesAfter(session: string, seq: number): Promise<number> {
    const later = await this.log.read(session, { after: seq });
    const isUndone = undoneMessages(later);
    return later.filter((event) => {
      const isMessage = isEvent(event, 'say') || isEvent(event, 'message');
      return isMessage && !isUndone(event);
    }).length;
  }

  async #rewindFiles({ session, seq, preview, caller }: FilesRewind) {
    const commit = await this.steps.commitAt(session, seq);
    if (!commit) return [];
    await this.queue.wakeIfGone(session);
    const { files } = await this.dispatcher.call(session, {
      name: 'workspace.rewind',
      input: { commit, preview },
      caller,
    });
    return files;
  }
}

interface FilesRewind {
  session: string;
  seq: number;
  preview: boolean;
  caller: Caller;
}
