import { Injectable } from '@nestjs/common';

/**
 * The sessions on bare machines: whoever operates one runs programs on that machine, and nothing confines them. The log
 * is what they are known from; this is its sum, for checks of rights.
 */
@Injectable()
export class BareSessions {
  readonly #machines = new Map<string, string>();

  add(session: string, machine: string): void {
    this.#machines.set(session, machine);
  }

  /** The name of a session’s bare machine; undefined for every other session. */
  machineOf(session: string): string | undefined {
    return this.#machines.get(session);
  }
}
