import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import type { BelayServer } from '@belay/testkit';
import { idleSession, temporaryFolder, withServer } from './platform.ts';
import { median } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = '`cat` of 100 MB to a viewer: bytes lost, and speed beside node-pty alone';

const size = 100_000_000;
const columns = 99;
/** Makes the file that is printed. */
export const make = `head -c ${size} /dev/zero | tr '\\0' 'b' | fold -w ${columns} | head -c ${size} > big`;

/** Belay and the floor alternate, so that both run under the same load. */
export async function measure(): Promise<Row[]> {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    session.close();
    const run: Run = (command) =>
      server.client.sessions.call(session.id, 'terminal.run', { command, wait: 120 });
    await run(make);
    const rounds: (Watched & { floor: number })[] = [];
    for (let round = 0; round < 5; round++) {
      const seen = await watched(server, session.id, run);
      rounds.push({ ...seen, floor: await ptyAlone() });
    }
    const middle = (what: keyof Watched | 'floor') => median(rounds.map((round) => round[what]));
    const floor = middle('floor');
    const speed = { unit: 'MB/s', target: floor * 0.6, floor, atLeast: true };
    return [
      {
        what: 'bytes lost',
        figure: Math.max(...rounds.map(({ lost }) => lost)),
        unit: 'B',
        target: 0,
      },
      { what: 'until all is with the viewer', figure: middle('speed'), ...speed },
      {
        what: 'read from the log, having been slow',
        figure: middle('share'),
        unit: '%',
        target: null,
      },
    ];
  });
}

/** Runs a command in the session’s terminal; resolves to the offsets of its output. */
export type Run = (command: string) => Promise<{ from: number; to: number }>;

export interface Watched {
  lost: number;
  /** Megabytes per second. */
  speed: number;
  /** Percentage of the bytes that were skipped and read from the log. */
  share: number;
}

/**
 * The terminal’s bytes since the previous command, with space for the prompts and the typed line.
 */
const screen = Buffer.alloc((size / (columns + 1)) * (columns + 2) + 64 * 1024);

/**
 * What a viewer has once a command has run: the live bytes, and from the log those that were
 * skipped.
 */
export async function watched(server: BelayServer, id: string, run: Run): Promise<Watched> {
  screen.fill(0);
  const { to: begin } = await run(':');
  const gaps: { from: number; to: number }[] = [];
  let reached = begin;
  let wake = () => {};
  const watch = server.live.watch(id, {
    events: () => {},
    terminal: ({ terminal, offset, bytes }) => {
      const end = offset + bytes.length;
      if (terminal !== 'main' || end <= begin) return;
      if (offset > reached) gaps.push({ from: reached, to: offset });
      screen.set(bytes.subarray(Math.max(0, begin - offset)), Math.max(0, offset - begin));
      reached = end;
      wake();
    },
  });
  const begun = performance.now();
  const { from, to } = await run('cat big');
  while (reached < to) await new Promise<void>((done) => (wake = done));
  let skipped = 0;
  for (const gap of gaps) {
    screen.set(await server.client.sessions.terminal(id, 'main', gap), gap.from - begin);
    skipped += gap.to - gap.from;
  }
  const seconds = (performance.now() - begun) / 1000;
  watch.close();
  const printed = screen.subarray(from - begin, to - begin);
  return {
    lost: missing(printed),
    speed: printed.length / 1e6 / seconds,
    share: (100 * skipped) / printed.length,
  };
}

/** Bytes of the file that are missing or wrong; the terminal turns each line end into two bytes. */
function missing(whole: Buffer): number {
  const line = Buffer.from(`${'b'.repeat(columns)}\r\n`);
  const lines = size / (columns + 1);
  let wrong = Math.max(0, lines * line.length - whole.length);
  for (let at = 0; at < lines * line.length && at < whole.length; at += line.length)
    if (whole.compare(line, 0, line.length, at, at + line.length) !== 0) wrong += line.length;
  return wrong;
}

/** Speed from node-pty to a raw socket client with nothing in between, in megabytes per second. */
async function ptyAlone(): Promise<number> {
  const { folder, remove } = temporaryFolder();
  const line = `${'b'.repeat(columns)}\n`;
  writeFileSync(join(folder, 'big'), line.repeat(size / line.length));
  const server = createServer((socket) => {
    const pty = spawn('cat', ['big'], { cwd: folder, encoding: null });
    pty.onData((data) => {
      if (socket.write(data)) return;
      pty.pause();
      socket.once('drain', () => pty.resume());
    });
    pty.onExit(() => socket.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const begun = performance.now();
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let bytes = 0;
  client.on('data', (data) => (bytes += data.length));
  await once(client, 'close');
  const seconds = (performance.now() - begun) / 1000;
  server.close();
  remove();
  return bytes / 1e6 / seconds;
}
