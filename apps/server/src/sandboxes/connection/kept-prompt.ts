import { ReceivedPrompt, type ModelCall, type ModelRequest } from '@belay/protocol';

/** A session that waits for its user keeps no prompt in memory; sending it whole once more costs little. */
const keptMs = 60_000;

/** The prompt of an agent that works, on which its next request builds. */
export class KeptPrompt {
  readonly #received = new ReceivedPrompt();
  #expiry: NodeJS.Timeout | undefined;

  /** Throws `conflict` and `too_large` as `ReceivedPrompt` does. */
  take(call: ModelCall): ModelRequest {
    clearTimeout(this.#expiry);
    this.#expiry = setTimeout(() => this.#received.forget(), keptMs).unref();
    return this.#received.take(call);
  }
}
