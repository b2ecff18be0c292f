import { closeSync } from 'node:fs';
import { below, enter, hold, partsOf, type Held } from './reach.js';

/**
 * Places below a folder, for many paths one after the other: the folders of the last one stay open, so that the next
 * one of the same folder costs nothing. As in `reach`, no link is followed: one on the way throws `forbidden`.
 */
export class HeldFolders {
  readonly #held: (Held & { name: string })[];

  constructor(root: string) {
    this.#held = [{ ...hold(Buffer.from(root), 0), name: '' }];
  }

  /** Where system calls reach a path, up to the next call of this. They must not follow a link at its end. */
  at(path: string | Buffer): Buffer {
    const parts = partsOf(path);
    const name = parts.pop();
    const names = parts.map((part) => part.toString('latin1'));
    let depth = 1;
    while (depth < this.#held.length && this.#held[depth]?.name === names[depth - 1]) depth++;
    for (const { descriptor } of this.#held.splice(depth)) closeSync(descriptor);
    for (const part of parts.slice(depth - 1)) {
      const inner = enter(this.#last, part);
      this.#held.push({ ...inner, name: part.toString('latin1') });
    }
    return name ? below(this.#last.at, name) : this.#last.at;
  }

  close(): void {
    for (const { descriptor } of this.#held.splice(0)) closeSync(descriptor);
  }

  get #last(): Held {
    const last = this.#held.at(-1);
    if (!last) throw new Error('The folders are closed.');
    return last;
  }
}
