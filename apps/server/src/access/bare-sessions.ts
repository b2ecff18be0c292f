import { Injectable } from '@nestjs/common';

/**
 * The sessions on bare machines: whoever operates one runs programs on that machine, and nothing confines them. They
 * are taken from the log, for checks of rights.
 */
@Injectable()
export class BareSessions {
  /** The machine of each session, by name. */
  readonly #machines = new Map<string, string>();

  add(session: string, machine: string): void {
    this.#machines.set(session, machine);
  }

  /** Undefined for a session that is not on a bare machine. */
  machineOf(session: string): string | undefined {
    return this.#machines.get(session);
  }
}
