import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { idleSession, temporaryFolder, withServer } from './platform.mjs';
import { median } from './statistics.mjs';

const require = createRequire(import.meta.url);
export const title = '`cat` of 100 MB to a viewer: bytes lost, and speed beside node-pty alone';

const size = 100_000_000;
const columns = 99;
const make = `head -c ${size} /dev/zero | tr '\\0' 'b' | fold -w ${columns} | head -c ${size} > big`;

/** Belay and the floor take turns, so that both meet the same machine. */
export async function measure() {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    session.close();
    const run = (command) =>
      server.client.sessions.call(session.id, 'terminal.run', { command, wait: 120 });
    await run(make);
    const rounds = [];
    for (let round = 0; round < 3; round++) {
      const seen = await watched(server, session.id, run);
      rounds.push({ ...seen, floor: await ptyAlone() });
    }
    const middle = (what) => median(rounds.map((round) => round[what]));
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

/** The terminal's bytes from the command before on, with room for the prompts and the typed line. */
const screen = Buffer.alloc((size / (columns + 1)) * (columns + 2) + 64 * 1024);

/** What a viewer has when a command has run: live bytes, and out of the log those that were skipped for it. */
async function watched(server, id, run) {
  screen.fill(0);
  const { to: begin } = await run(':');
  const gaps = [];
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
  while (reached < to) await new Promise((done) => (wake = done));
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

/** Bytes of the file that did not come, or came wrong: the terminal makes two of each line end. */
function missing(whole) {
  const line = Buffer.from(`${'b'.repeat(columns)}\r\n`);
  const lines = size / (columns + 1);
  let wrong = Math.max(0, lines * line.length - whole.length);
  for (let at = 0; at < lines * line.length && at < whole.length; at += line.length)
    if (whole.compare(line, 0, line.length, at, at + line.length) !== 0) wrong += line.length;
  return wrong;
}

/** node-pty to a raw socket client, nothing between: megabytes per second. */
async function ptyAlone() {
  const { spawn } = require('@lydell/node-pty');
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
  const client = connect(server.address().port, '127.0.0.1');
  let bytes = 0;
  client.on('data', (data) => (bytes += data.length));
  await once(client, 'close');
  const seconds = (performance.now() - begun) / 1000;
  server.close();
  remove();
  return bytes / 1e6 / seconds;
}
