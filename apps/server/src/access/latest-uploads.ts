import { NewestSet } from '@belay/protocol';
import { seesAll, type Caller } from './caller.js';

/** How many of a caller’s latest uploads it may still use. */
const maxUploads = 200;

/**
 * What callers that do not see all sessions have uploaded: knowing the id of an upload is not enough to use it. They
 * are lost when the server ends; callers then upload again.
 */
export class LatestUploads {
  readonly #ofCallers = new Map<string, NewestSet<string>>();

  add(caller: Caller, id: string): void {
    if (seesAll(caller)) return;
    const uploads = this.#ofCallers.get(caller.id) ?? new NewestSet<string>(maxUploads);
    this.#ofCallers.set(caller.id, uploads.add(id));
  }

  /** Whether the caller may use it because of who it is. */
  has(caller: Caller, id: string): boolean {
    return seesAll(caller) || (this.#ofCallers.get(caller.id)?.has(id) ?? false);
  }
}
