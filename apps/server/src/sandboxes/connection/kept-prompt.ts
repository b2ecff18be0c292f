import { ReceivedPrompt, type ModelCall, type ModelRequest } from '@belay/protocol';

/** An idle session keeps no prompt in memory; sending the whole prompt again costs little. */
const keptMs = 60_000;

/** The prompt of a working agent; its next request sends only the additions. */
export class KeptPrompt {
  readonly #received = new ReceivedPrompt();
  #expiry: NodeJS.Timeout | undefined;

  /** Throws `conflict` and `too_large` like `ReceivedPrompt`. */
  take(call: ModelCall): ModelRequest {
    clearTimeout(this.#expiry);
    this.#expiry = setTimeout(() => this.#received.forget(), keptMs).unref();
    return this.#received.take(call);
  }
}
