import { dirname, join } from 'node:path';

/** Any group except root’s. */
const otherGroup = 1000;

/**
 * Makes this process one that no program it starts can touch, where it starts as root of its container; see
 * docs/sandboxes.md. Programs run as `user`, see `asUser`.
 *
 * The real and saved ids stay root’s: by them the kernel decides who may signal or trace a process or read its memory.
 * The effective ids, of all threads, become the user’s: by them it decides about files, and without capabilities. So
 * the agent has its programs’ rights, and they have none over it. Where programs are root they may end it, but not read
 * or trace it: a process that changed an effective id is not dumpable. Throws when the kernel refuses.
 */
export function separateFromPrograms(user: number | undefined): void {
  if (user === undefined || !process.setegid || !process.seteuid || !process.setgroups) return;
  if (user === 0) {
    process.setegid(otherGroup);
    process.setegid(0);
    return;
  }
  process.setgroups([]);
  process.setegid(user);
  process.seteuid(user);
}

export interface Invocation {
  file: string;
  args: string[];
}

/**
 * What to spawn so that a program runs entirely as the user. All ids become the effective ones, which Node’s own `uid`
 * cannot do: it sets only one id if the effective user is not root. `setpriv` replaces itself with the program; a
 * missing program gives the exit code 127.
 */
export function asUser(file: string, args: readonly string[] = []): Invocation {
  const user = process.geteuid?.();
  if (user === process.getuid?.()) return { file, args: [...args] };
  const ids = ['--reuid', String(user), '--regid', String(process.getegid?.()), '--keep-groups'];
  return { file: setpriv, args: [...ids, '--', file, ...args] };
}

/** The runtime contains it, beside its Node. */
const setpriv = join(dirname(process.execPath), 'setpriv');
