import { Injectable } from '@nestjs/common';
import type { CommandInput, CommandOutput } from '@belay/protocol';
import { Forking } from '../../sessions/forking.js';
import { Rewinding } from '../../sessions/rewinding.js';
import { SessionCreation } from '../../sessions/session-creation.js';
import { SessionRemoval } from '../../sessions/session-removal.js';
import type { CommandContext, CommandHandlers } from './command-handlers.js';

/** The commands that create a session, return it to an earlier state and delete it. */
@Injectable()
export class LifecycleCommands implements CommandHandlers<'start' | 'remove' | 'fork' | 'rewind'> {
  constructor(
    private readonly creation: SessionCreation,
    private readonly removal: SessionRemoval,
    private readonly forking: Forking,
    private readonly rewinding: Rewinding,
  ) {}

  async start(
    { model, paused, ...wanted }: CommandInput<'start'>,
    { caller, id, made }: CommandContext,
  ): Promise<CommandOutput<'start'>> {
    const earlier = id === undefined ? undefined : await this.creation.find(id, caller);
    // What exists needs no model that is ready now.
    const started =
      earlier ??
      (await this.creation.create(
        { ...wanted, model: model ?? (await this.creation.readyModel({ forTask: !paused })) },
        caller,
        id,
        { paused },
      ));
    made?.({ session: started.id, subject: started.title });
    return started;
  }

  async remove({ session }: CommandInput<'remove'>): Promise<CommandOutput<'remove'>> {
    await this.removal.remove(session);
    return {};
  }

  async fork(
    { session, ...wanted }: CommandInput<'fork'>,
    { caller, made }: CommandContext,
  ): Promise<CommandOutput<'fork'>> {
    const fork = await this.forking.fork(session, wanted, caller);
    made?.({ session: fork.id, subject: `${session} ${fork.title}` });
    return fork;
  }

  rewind(
    { session, ...wanted }: CommandInput<'rewind'>,
    { caller }: CommandContext,
  ): Promise<CommandOutput<'rewind'>> {
    return this.rewinding.rewind(session, wanted, caller);
  }
}
