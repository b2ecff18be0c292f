import { ignoreError } from '@belay/protocol';
import { endBySignal } from './end-by-signal.js';

/** How long open requests may continue after a signal. */
const closeMs = 5_000;

/** The signals that tell this process to end. One at a time knows what is to be closed first, which changes as it starts. */
class EndSignals {
  #close: (() => Promise<void>) | undefined;
  #received: NodeJS.Signals | undefined;

  /** The signal by which this process ends: whatever fails meanwhile is part of that. */
  get received(): NodeJS.Signals | undefined {
    return this.#received;
  }

  /**
   * From now on, this process ends by the first signal once `close` has settled, in place of an earlier one, or after
   * `closeMs`; and by a second one at once.
   */
  closeBy(close: () => Promise<void>): void {
    if (!this.#close) process.on('SIGINT', this.#end).on('SIGTERM', this.#end);
    this.#close = close;
  }

  /** For a moment before this process becomes another program, which would not know of a signal that came to this one. */
  leave(): void {
    process.off('SIGINT', this.#end).off('SIGTERM', this.#end);
  }

  readonly #end = (signal: NodeJS.Signals): void => {
    if (this.#received) endBySignal(signal);
    this.#received = signal;
    const late = setTimeout(() => endBySignal(signal), closeMs);
    const closed = this.#close?.().catch(ignoreError('what is left ends with the process'));
    void closed?.finally(() => {
      clearTimeout(late);
      endBySignal(signal);
    });
  };
}

export const endSignals = new EndSignals();
