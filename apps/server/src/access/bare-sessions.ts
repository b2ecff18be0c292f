import { Injectable } from '@nestjs/common';

/**
 * The sessions on bare machines: whoever operates one runs programs on that machine, and nothing confines them. The log
 * is what they are known from; this is its sum, for checks of rights.
 */
@Injectable()
export class BareSessions {
  readonly #sessions = new Set<string>();

  add(session: string): void {
    this.#sessions.add(session);
  }

  has(session: string): boolean {
    return this.#sessions.has(session);
  }
}
