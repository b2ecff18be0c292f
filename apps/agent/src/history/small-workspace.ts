import { lstatSync, readdirSync, statSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';

/** In a larger workspace a process of git is as quick. */
const mostEntries = 300;
/** What changed less than this ago may change again unseen: file systems count time in steps, of two seconds at most. */
const stepMs = 2_000;

/** Detects that nothing has changed in a small workspace, in less time than it takes to start git. */
export class SmallWorkspace {
  readonly #root: string;
  #isLarge = false;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * What its files and folders look like: while it is the same, nothing has changed. Each has its inode and the time of
   * its last change, which no program can set, and which every change of content, mode or name sets. Like git’s status
   * it leaves out `.git`. Undefined when that cannot be told: of a workspace that is, or was once, too large, and of
   * one that changes just now.
   */
  state(): string | undefined {
    if (this.#isLarge) return undefined;
    try {
      return this.#state();
    } catch {
      return undefined; // Gone or closed to us meanwhile: git knows what to do with it.
    }
  }

  #state(): string | undefined {
    const latest = BigInt(Date.now() - stepMs) * 1_000_000n;
    const seen: string[] = [];
    const folders: string[] = [];
    const look = (path: string, stats: BigIntStats): boolean => {
      seen.push(`${path} ${stats.ino} ${stats.ctimeNs}`);
      if (stats.isDirectory()) folders.push(path);
      return stats.ctimeNs < latest;
    };
    if (!look(this.#root, statSync(this.#root, { bigint: true }))) return undefined;
    for (const folder of folders) {
      const names = readdirSync(folder).filter((name) => name !== '.git');
      this.#isLarge = seen.length + names.length > mostEntries;
      if (this.#isLarge) return undefined;
      for (const name of names) {
        const path = join(folder, name);
        if (!look(path, lstatSync(path, { bigint: true }))) return undefined;
      }
    }
    return seen.join('\0');
  }
}
