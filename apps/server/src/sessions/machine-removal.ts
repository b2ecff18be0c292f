import { Injectable } from '@nestjs/common';
import { ignoreError, isEnded, newEvent } from '@belay/protocol';
import { stateMessage } from '../logs/consequences.js';
import { EventLog } from '../logs/event-log.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { Exports } from './exports.js';

/** Removes machines without the loss of what their sessions have changed. */
@Injectable()
export class MachineRemoval {
  constructor(
    private readonly machines: Machines,
    private readonly sandboxes: SandboxService,
    private readonly exports: Exports,
    private readonly log: EventLog,
  ) {}

  /** By id or name. Stores the patches of its sessions first, because nobody reaches their files afterwards. */
  async remove(machine: string): Promise<void> {
    const found = this.machines.known(machine);
    if (found) {
      const on = { name: found.name, connected: this.machines.isConnected(found.id) };
      const sessions = this.machines.sessionsOn(found.id);
      await Promise.all(sessions.map((session) => this.#end(session, on)));
    }
    await this.machines.remove(machine);
  }

  async #end(session: string, { name, connected }: { name: string; connected: boolean }) {
    const isKept =
      connected &&
      this.sandboxes.agent(session) !== undefined &&
      (await this.exports.keepPatch(session).then(
        () => true,
        () => false,
      ));
    const outcome = isKept
      ? `Its changes until then are kept: belay patch ${session}`
      : 'Its latest changes could not be fetched and are only on that machine.';
    const args = {
      state: 'failed' as const,
      reason: `The machine ${name} was removed. ${outcome}`,
    };
    await this.log
      .append(session, ({ state }) =>
        isEnded(state) ? [] : [newEvent('server', 'state', { args, message: stateMessage(args) })],
      )
      .catch(ignoreError('the end of its agent is reported anyway'));
  }
}
