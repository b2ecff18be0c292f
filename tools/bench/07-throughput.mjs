import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import { createRequire } from 'node:module';
import { idleSession, temporaryFolder, withServer } from './platform.mjs';

const require = createRequire(import.meta.url);
export const title = '`cat` of 100 MB to a viewer: bytes lost, and speed beside node-pty alone';

const size = 100_000_000;
const make = `head -c ${size} /dev/zero | tr '\\0' 'b' | fold -w 99 | head -c ${size} > big`;

export async function measure() {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    const call = (command) =>
      server.client.sessions.call(session.id, 'terminal.run', { command, wait: 120 });
    await call(`${make}; stty -opost`);
    session.close();
    const received = await viewer(server, session.id, () => call('cat big'));
    const floor = await ptyAlone();
    return [
      { what: 'bytes lost in the log', figure: received.lost, unit: 'B', target: 0 },
      {
        what: 'speed',
        figure: received.speed,
        unit: 'MB/s',
        target: floor * 0.6,
        floor,
        atLeast: true,
      },
    ];
  });
}

/** Watches a terminal while `go` runs. What was skipped for a slow viewer is in the log: it is read and counted too. */
async function viewer(server, id, go) {
  const { size: before } = await terminalOf(server, id);
  const begun = performance.now();
  const ran = await go();
  const seconds = (performance.now() - begun) / 1000;
  const bytes = await server.client.sessions.terminal(id, 'main', { from: ran.from, to: ran.to });
  const text = Buffer.from(bytes);
  const letters = text.length - text.toString('latin1').replaceAll(/[^b\n]/g, '').length;
  createHash('sha256').update(text).digest('hex');
  return { lost: Math.max(0, size - (text.length - letters)), speed: size / 1e6 / seconds, before };
}

async function terminalOf(server, id) {
  const listed = await server.client.sessions.call(id, 'terminal.list', {});
  return listed.terminals.find((terminal) => terminal.terminal === 'main');
}

/** node-pty to a raw socket client, nothing between: megabytes per second. */
async function ptyAlone() {
  const { spawn } = require('@lydell/node-pty');
  const { folder, remove } = temporaryFolder();
  const server = createServer((socket) => {
    const pty = spawn('sh', ['-c', `${make}; stty -opost; echo; cat big`], {
      cwd: folder,
      encoding: null,
    });
    pty.onData((data) => {
      if (socket.write(data)) return;
      pty.pause();
      socket.once('drain', () => pty.resume());
    });
    pty.onExit(() => socket.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(server.address().port, '127.0.0.1');
  let bytes = 0;
  let begun;
  client.on('data', (data) => {
    begun ??= performance.now();
    bytes += data.length;
  });
  await once(client, 'close');
  server.close();
  remove();
  return bytes / 1e6 / ((performance.now() - begun) / 1000);
}
