import { stripVTControlCharacters } from 'node:util';
import { isCall, isEnded, isEvent, type Event } from '@belay/protocol';
import { singleLine } from './output.js';

/** Shown characters of the newest output, and of the call before it. */
const maxOutput = 100;
const maxCall = 32;

/** The current activity of an agent, for the status line. */
export class LiveStatus {
  /** Calls that have no result yet, by id. */
  readonly #calls = new Map<string, string>();
  #since = Date.now();
  #doing = '';
  #text = '';

  readonly #show: (words: string, since: number) => void;

  /** `show` gets the activity and its start; an empty text means that there is none. */
  constructor(show: (words: string, since: number) => void) {
    this.#show = show;
  }

  see(event: Event): void {
    const { id = '', action, message } = event;
    if (isEvent(event, 'result')) this.#calls.delete(id);
    else if (id && isCall(action)) this.#calls.set(id, message);
    else if (!isEvent(event, 'state')) return;
    const over = isEvent(event, 'state') && isEnded(event.args.state);
    this.#doing = over ? '' : ([...this.#calls.values()].at(-1) ?? 'the model is thinking');
    this.#since = Date.now();
    this.#text = '';
    this.#show(singleLine(this.#doing, maxOutput), this.#since);
  }

  /** Adds output of the model or of a terminal. */
  add(text: string): void {
    this.#text = (this.#text + text).slice(-4 * maxOutput);
    const lines = stripVTControlCharacters(this.#text)
      .trimEnd()
      .split(/[\r\n]+/);
    const last = lines.at(-1)?.slice(-maxOutput).trim();
    if (last)
      this.#show(
        `${singleLine(this.#doing, maxCall)} · ${singleLine(last, maxOutput)}`,
        this.#since,
      );
  }
}
