import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kernel’s counter of processes that it killed because their control group was out of memory. */
export class MemoryKills {
  readonly #group: string;

  constructor(group = '/sys/fs/cgroup') {
    this.#group = group;
  }

  /** The count so far; null without a limited group, where nothing can be said. */
  count(): number | null {
    const text = this.#read('memory.events') ?? this.#read('memory/memory.oom_control') ?? '';
    const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
    return count === undefined ? null : Number(count);
  }

  /** The limit in MiB; null if it is unknown. */
  limitMiB(): number | null {
    const text = this.#read('memory.max') ?? this.#read('memory/memory.limit_in_bytes') ?? '';
    return /^\d+\s*$/.test(text) ? Math.round(Number(text) / 1024 ** 2) : null;
  }

  #read(name: string): string | null {
    try {
      return readFileSync(join(this.#group, name), 'utf8');
    } catch {
      return null; // This version of control groups does not have it.
    }
  }
}
