import { ignoreError } from '@belay/protocol';
import type { ServerConnection } from '../server-connection.js';

type Kind = 'text' | 'reasoning';

/** The longest text of one call, in characters. */
const maxText = 100_000;

/**
 * Shows viewers a reply while a program says it. Texts that come faster than the server takes them are joined, so that
 * one call at a time is on its way.
 */
export class LiveReply {
  readonly #connection: Pick<ServerConnection, 'call'>;
  readonly #waiting: { kind: Kind; text: string }[] = [];
  #sent: Promise<void> = Promise.resolve();
  #isSending = false;

  constructor(connection: Pick<ServerConnection, 'call'>) {
    this.#connection = connection;
  }

  show(kind: Kind, text: string): void {
    const last = this.#waiting.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.#waiting.push({ kind, text });
    if (!this.#isSending) this.#sent = this.#send();
  }

  /** Leaves out what viewers are yet to be shown, because they get it from the log. */
  drop(): void {
    this.#waiting.length = 0;
  }

  /** Resolves when viewers were shown everything so far. */
  flush(): Promise<void> {
    return this.#sent;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { kind, text } = next;
      if (text.length > maxText) this.#waiting.unshift({ kind, text: text.slice(maxText) });
      await this.#connection
        .call('reply.delta', { kind, text: text.slice(0, maxText) })
        .catch(ignoreError('viewers get the whole reply from the log'));
    }
    this.#isSending = false;
  }
}
