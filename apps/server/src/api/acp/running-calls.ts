import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { ignoreError } from '@belay/protocol';

/** Characters of the output so far that are shown: every update replaces the one before. */
const mostShown = 4_000;
/** Raw output that is kept for it, because escape sequences are not shown. */
const mostKept = 4 * mostShown;
const intervalMs = 200;

interface RunningCall {
  terminal: string | undefined;
  decoder: StringDecoder;
  text: string;
  /** Whether there is output that was not sent. */
  isNew: boolean;
  sending: boolean;
}

/** Shows the end of the output of running calls, as often as the editor takes it. */
export class RunningCalls {
  readonly #calls = new Map<string, RunningCall>();

  constructor(private readonly send: (call: string, text: string) => Promise<void>) {}

  begin(call: string, terminal?: string): void {
    const decoder = new StringDecoder('utf8');
    this.#calls.set(call, { terminal, decoder, text: '', isNew: false, sending: false });
  }

  output(call: string, text: string): void {
    const running = this.#calls.get(call);
    if (running) this.#add(call, running, text);
  }

  terminal(name: string, bytes: Uint8Array): void {
    for (const [call, running] of this.#calls)
      if (running.terminal === name)
        this.#add(call, running, running.decoder.write(Buffer.from(bytes)));
  }

  /** The result follows, and nothing of the call is sent after it. */
  end(call: string): void {
    this.#calls.delete(call);
  }

  endAll(): void {
    this.#calls.clear();
  }

  #add(call: string, running: RunningCall, text: string): void {
    running.text = (running.text + text).slice(-mostKept);
    running.isNew = true;
    if (!running.sending) void this.#flush(call, running);
  }

  async #flush(call: string, running: RunningCall): Promise<void> {
    running.sending = true;
    while (running.isNew && this.#calls.get(call) === running) {
      running.isNew = false;
      await this.send(call, shown(running.text)).catch(ignoreError('the editor is gone'));
      await sleep(intervalMs, undefined, { ref: false });
    }
    running.sending = false;
  }
}

/** Text after a carriage return replaces the text before it, as in a terminal. */
const shown = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.split('\r').findLast((part) => part !== '') ?? '')
    .join('\n')
    .slice(-mostShown)
    .toWellFormed();
