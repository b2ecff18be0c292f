import { stripVTControlCharacters } from 'node:util';
import { isEnded, isFact, type Event } from '@belay/protocol';
import { oneLine } from './output.js';

/** Characters of what is being written or printed that are shown, and of the call before them. */
const tail = 100;
const callBefore = 32;

/** What an agent does at this moment, for a line that is drawn anew. */
export class LiveStatus {
  /** Calls that have no result yet, by id. */
  readonly #calls = new Map<string, string>();
  #since = Date.now();
  #doing = '';
  #text = '';

  /** `show` is told what goes on since when; empty words are for nothing at all. */
  constructor(private readonly show: (words: string, since: number) => void) {}

  see(event: Event): void {
    const { id = '', action, message } = event;
    if (isFact(event, 'result')) this.#calls.delete(id);
    else if (id && message.startsWith(action)) this.#calls.set(id, message);
    else if (!isFact(event, 'state')) return;
    const over = isFact(event, 'state') && isEnded(event.args.state);
    this.#doing = over ? '' : ([...this.#calls.values()].at(-1) ?? 'the model thinks');
    this.#since = Date.now();
    this.#text = '';
    this.show(oneLine(this.#doing, tail), this.#since);
  }

  /** More text that the model writes, or that a terminal prints. */
  add(text: string): void {
    this.#text = (this.#text + text).slice(-4 * tail);
    const lines = stripVTControlCharacters(this.#text)
      .trimEnd()
      .split(/[\r\n]+/);
    const last = lines.at(-1)?.slice(-tail).trim();
    if (last)
      this.show(`${oneLine(this.#doing, callBefore)} · ${oneLine(last, tail)}`, this.#since);
  }
}
