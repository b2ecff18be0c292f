import { Injectable } from '@nestjs/common';
import {
  AppError,
  newEvent,
  type forkRequest,
  type SessionAgent,
  type SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import { assertMay, mayNameHost, type Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import { assertMayUseMachine } from '../sandboxes/machines/assert-may-use-machine.js';
import { assertMayUseProfile } from './assert-may-use-profile.js';
import { AgentAndModel } from './agent-and-model.js';
import { ForkFiles } from './fork-files.js';
import { LogSteps } from './log-steps.js';
import { SessionBeginners } from './session-beginners.js';
import { newSessionId } from './session-creation.js';
import { startEvent } from './start-event.js';
import { StartQueue } from './start-queue.js';

/** Creates new sessions from any event of another session. */
@Injectable()
export class Forking {
  constructor(
    private readonly log: EventLog,
    private readonly steps: LogSteps,
    private readonly files: ForkFiles,
    private readonly queue: StartQueue,
    private readonly beginners: SessionBeginners,
    private readonly choice: AgentAndModel,
  ) {}

  /** A new session with the log up to `seq`, its files as of that event, and a sandbox of its own. */
  async fork(
    from: string,
    { seq, model, agent: wanted, message }: z.output<typeof forkRequest>,
    caller: Caller,
  ): Promise<SessionSummary> {
    assertMay(caller, 'operate', from);
    await this.beginners.assertMayBegin(caller, { images: message?.images });
    const summary = await this.steps.checked(from, seq);
    const old = await this.log.settings(from);
    const title = `${summary.title.slice(0, 190)} (fork)`;
    // A caller who may not share folders of the host does not get them by forking another user’s session.
    const mounts = mayNameHost(caller) ? old.mounts : [];
    const { agent: earlier, ...kept } = old;
    assertNoSignIn(earlier, wanted);
    const egress = this.choice.egressWithout(earlier, old.egress);
    const place = { model: model ?? old.model, machine: old.machine };
    if (!wanted) await this.choice.assertMayCall(earlier, place.model, { caller });
    const agent = wanted ? await this.choice.of({ agent: wanted, ...place }, { caller }) : earlier;
    const changed = { title, mounts, egress, model: place.model };
    const settings = { ...kept, ...changed, ...(agent && { agent }) };
    if (old.machine) assertMayUseMachine(caller, old.machine);
    assertMayUseProfile(caller, old.sandbox);
    const id = newSessionId();
    try {
      const copied = await this.log.read(from, { after: 0, limit: seq });
      const { workspace, repository } = old;
      const source = { session: from, seq, workspace, repository, events: copied };
      const step = await this.files.copy(source, id);
      const older =
        step === undefined ? '' : ` Its files are those of event ${step}: later ones are gone.`;
      const dropped =
        mounts.length < old.mounts.length
          ? ' It lacks the host’s folders, which only an admin can share.'
          : '';
      const forked = `Forked from event ${seq} of “${summary.title}”.${older}${dropped}`;
      await this.beginners.record(id, caller, settings);
      await this.log.create(id, settings, {
        copied: { from, events: copied },
        events: [
          newEvent('server', 'fork', { args: { session: from, seq }, message: forked }),
          startEvent(settings, true),
          ...(message
            ? [newEvent('user', 'message', { args: message, message: message.text })]
            : []),
        ],
      });
    } catch (error) {
      await this.files.remove(id);
      throw error;
    }
    this.queue.add(id);
    return this.log.summary(id);
  }
}

/** A sign-in stays with the session that its user began with it. */
function assertNoSignIn(
  earlier: SessionAgent | undefined,
  wanted: z.output<typeof forkRequest>['agent'],
): void {
  if (wanted?.login)
    throw new AppError(
      'invalid_input',
      'A fork cannot use your own sign-in. Leave out `login`, or start a new session with it.',
    );
  if (earlier?.login !== undefined && !wanted)
    throw new AppError(
      'conflict',
      'A fork does not get the sign-in of this session. Name an agent and a model for it.',
    );
}
