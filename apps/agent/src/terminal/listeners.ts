import { closeSync, openSync, readSync } from 'node:fs';

/** Listening sockets come first in the kernel’s tables; entries that programs append after them are not read. */
const maxTableBytes = 1024 * 1024;
const listening = '0A';

/** The last result, shared by all callers: programs can fill the tables, and there may be many calls. */
let latest = { freshUntil: -Infinity, byPort: new Map<number, Set<string>>() };
/**
 * How long a result is reused: this time, and nine times as long as reading took. Reading therefore takes a tenth of
 * the time at most.
 */
const freshMs = 25;
const restOfLooking = 9;

/** The sockets that accept connections on a TCP port in this network, by inode, read now. */
export function listeners(port: number): ReadonlySet<string> {
  const begun = performance.now();
  const byPort = readTables();
  const now = performance.now();
  latest = { freshUntil: now + Math.max(freshMs, restOfLooking * (now - begun)), byPort };
  return byPort.get(port) ?? none;
}

/** Like `listeners`, for repeated checks. */
export function recentListeners(port: number): ReadonlySet<string> {
  if (performance.now() > latest.freshUntil) return listeners(port);
  return latest.byPort.get(port) ?? none;
}

/** The ports with a listening program, lowest first. */
export function listeningPorts(): number[] {
  if (performance.now() > latest.freshUntil) listeners(0);
  return [...latest.byPort.keys()].sort((one, other) => one - other);
}

const none: ReadonlySet<string> = new Set();

function readTables(): Map<number, Set<string>> {
  const byPort = new Map<number, Set<string>>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readStart(table).split('\n')) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state !== listening) continue;
      const port = Number.parseInt(local.slice(local.indexOf(':') + 1), 16);
      byPort.set(port, (byPort.get(port) ?? new Set()).add(inode));
    }
  }
  return byPort;
}

function readStart(path: string): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return ''; // A kernel without IPv6.
  }
  try {
    const buffer = Buffer.allocUnsafe(maxTableBytes);
    let size = 0;
    for (let read = -1; read !== 0 && size < maxTableBytes;) {
      read = readSync(file, buffer, size, maxTableBytes - size, null);
      size += read;
    }
    return buffer.toString('latin1', 0, size);
  } finally {
    closeSync(file);
  }
}
