import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, faultOf, operationNamed, personCallPrefix, type Role } from '@belay/protocol';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { EventLog } from '../logs/event-log.js';

/** Calls of operations by people: whatever door they come through, they are allowed or refused, and reach the agent, here. */
@Injectable()
export class Dispatcher {
  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
  ) {}

  /** Answers the operation's output. Throws what the agent throws, `conflict` when there is no agent to ask. */
  async call(
    session: string,
    { name, input, role }: { name: string; input: unknown; role: Role },
    signal?: AbortSignal,
  ): Promise<unknown> {
    const operation = operationNamed(name);
    if (!operation?.audience.includes('person')) {
      throw new AppError('not_found', `There is no operation ${name} for a person.`);
    }
    if (!operation.audience.includes(role)) throw mayOnlyWatch();
    const parsed = operation.input.safeParse(input);
    if (!parsed.success) {
      throw new AppError('invalid_input', `${name}: ${faultOf(parsed.error)}.`);
    }
    const { state } = await this.log.summary(session);
    const link = this.sandboxes.agent(session);
    if (!link) {
      if (this.sandboxes.state(session) === 'lost') {
        throw new AppError('unavailable', 'The agent is being reconnected: try again in a moment.');
      }
      const remedy = state === 'starting' ? 'wait until it has started' : 'restart the session';
      throw new AppError('conflict', `The session has no sandbox now: ${remedy}.`);
    }
    const id = `${personCallPrefix}${randomUUID()}`;
    this.log.markPersonCall(session, id);
    const call = { id, operation: name, input: parsed.data };
    return (await link.call('operation.call', call, { ...(signal && { signal }) })).output;
  }
}

export const mayOnlyWatch = (): AppError =>
  new AppError('forbidden', 'This token may watch and not touch.');
