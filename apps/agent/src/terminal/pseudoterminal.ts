import { closeSync, constants, openSync } from 'node:fs';
import { load } from 'koffi';

const libc = load('libc.so.6');
const unlockpt = libc.func('int unlockpt(int fd)');
const ptsname = libc.func('int ptsname_r(int fd, void *name, size_t size)');
const tcgetattr = libc.func('int tcgetattr(int fd, void *termios)');
const tcsetattr = libc.func('int tcsetattr(int fd, int when, void *termios)');
const ioctl = libc.func('int ioctl(int fd, unsigned long request, ...)');

/** For what `ioctl` sets: the size of a window, in rows and columns. */
const TIOCSWINSZ = 0x5414;
/** A flag of a terminal's input: a backspace erases a whole character of UTF-8. */
const IUTF8 = 0x4000;
/** At least the size of C's `struct termios`, which begins with the 32 flags of the input. */
const termiosSize = 128;
const nameSize = 64;

/** Both sides are open in this process; no program that it starts inherits them. */
export interface Pseudoterminal {
  master: number;
  slave: number;
}

/** Opens a pseudoterminal for UTF-8. Throws the system's error when none is free. */
export function openPseudoterminal(columns: number, rows: number): Pseudoterminal {
  // Node opens all files close-on-exec.
  const flags = constants.O_RDWR | constants.O_NOCTTY;
  const master = openSync('/dev/ptmx', flags);
  try {
    const name = Buffer.alloc(nameSize);
    if (unlockpt(master) !== 0 || ptsname(master, name, nameSize) !== 0) {
      throw new Error('The pseudoterminal cannot be unlocked.');
    }
    const slave = openSync(name.toString('latin1', 0, name.indexOf(0)), flags);
    const termios = Buffer.alloc(termiosSize);
    tcgetattr(slave, termios);
    termios.writeUInt32LE(termios.readUInt32LE(0) | IUTF8, 0);
    tcsetattr(slave, 0, termios);
    resizePseudoterminal(master, columns, rows);
    return { master, slave };
  } catch (error) {
    closeSync(master);
    throw error;
  }
}

/** Tells the programs in the pseudoterminal by SIGWINCH, if the size is another one. */
export function resizePseudoterminal(fd: number, columns: number, rows: number): void {
  ioctl(fd, TIOCSWINSZ, 'void *', Uint16Array.of(rows, columns, 0, 0));
}
