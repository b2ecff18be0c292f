import { lstatSync, readdirSync, statSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';

/** In a larger workspace, a git process is as fast. */
const mostEntries = 300;
/**
 * A file that changed less than this ago may change again unnoticed, because file systems store times in steps of up
 * to two seconds.
 */
const stepMs = 2_000;

/** Detects that a small workspace has not changed, faster than starting git. */
export class SmallWorkspace {
  readonly #root: string;
  #isLarge = false;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * A fingerprint of the workspace’s files and folders: while it is the same, nothing has changed. It contains each
   * inode and the time of its last status change, which every change of content, mode or name updates and no program
   * can set. Like git’s status it leaves out `.git`. Undefined if this is impossible: the workspace is, or was, too
   * large, or is changing now.
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
