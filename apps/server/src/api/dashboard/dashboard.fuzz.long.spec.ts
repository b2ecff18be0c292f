import fc from 'fast-check';
import { dashboardPath, viewerRequests } from '@belay/protocol';
import { until } from '@belay/testing';
import { connected, dashboardSocket, type Socket } from '../../testing/dashboard-socket.js';
import { TestServer } from '../../testing/server.js';

/** Fixed, so that a failure is the same everywhere; FUZZ_SEED and FUZZ_RUNS search elsewhere and longer. */
const settings = {
  seed: Number(process.env['FUZZ_SEED'] ?? 20_261_122),
  numRuns: Number(process.env['FUZZ_RUNS'] ?? 40),
};
const headers = (server: TestServer) => ({ authorization: `Bearer ${server.token}` });

describe('attacks and fuzz: the dashboard’s socket', () => {
  const server = new TestServer();
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  let honest: Socket;

  beforeAll(async () => {
    await server.start();
    process.on('uncaughtException', note).on('unhandledRejection', note);
    honest = dashboardSocket(server.url, headers(server));
    await connected(honest);
  });
  afterAll(async () => {
    honest.disconnect();
    await server.close();
    process.off('uncaughtException', note).off('unhandledRejection', note);
  });
  // The positive control: another viewer was not disturbed, and nothing reached the process.
  afterEach(async () => {
    expect(await honest.emitWithAck('fleet', {})).toMatchObject({ ok: true });
    expect(uncaught.splice(0)).toEqual([]);
  });

  /** A viewer that sends raw packets of engine.io; resolves when it is in. */
  async function raw(): Promise<{ socket: WebSocket; received: string[] }> {
    const url = `${server.url.replace('http', 'ws')}${dashboardPath}/?EIO=4&transport=websocket`;
    const socket = new WebSocket(url, { headers: headers(server) } as never);
    const received: string[] = [];
    socket.addEventListener('message', ({ data }) => received.push(String(data)));
    socket.addEventListener('error', () => {});
    socket.addEventListener('open', () => socket.send('40'));
    await until('it is in', () => received.some((packet) => packet.startsWith('40')));
    return { socket, received };
  }
  const closed = (socket: WebSocket) =>
    until('it is closed', () => socket.readyState === WebSocket.CLOSED);

  it.each([
    ['a million values', `42["watch"${',1'.repeat(1_000_000)}]`],
    ['an acknowledgement of a million values', `430[1${',1'.repeat(1_000_000)}]`],
    ['bytes that never come', '451-["watch",{"_placeholder":true,"num":0}]'],
    ['bytes of a placeholder beyond them', '451-["watch",{"_placeholder":true,"num":7}]'],
    ['a reserved name', '42["disconnect"]'],
    ['no valid packet', '49[]'],
    ['no valid packet of engine.io', 'zzz'],
  ])('%s closes its connection', async (_name, packet) => {
    const { socket } = await raw();
    socket.send(packet);
    await closed(socket);
  });

  it('a request of a million levels is refused, and the next one is served', async () => {
    const { socket, received } = await raw();
    socket.send(`421["watch",${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}]`);
    socket.send('422["fleet",{}]');
    await until('both answers', () =>
      ['431', '432'].every((id) => received.some((packet) => packet.startsWith(id))),
    );
    expect(received.find((packet) => packet.startsWith('431'))).toContain('invalid_input');
    expect(received.find((packet) => packet.startsWith('432'))).toContain('"ok":true');
    socket.close();
  });

  it('any values as the input of any request', async () => {
    const names = fc.constantFrom(
      ...Object.keys(viewerRequests),
      '__proto__',
      'constructor',
      'error',
    );
    const socket = dashboardSocket(server.url, headers(server));
    await fc.assert(
      fc.asyncProperty(names, fc.jsonValue({ maxDepth: 6 }), async (name, input) => {
        socket.emit(name, input);
        expect(await socket.emitWithAck('fleet', {})).toMatchObject({ ok: true });
      }),
      settings,
    );
    socket.disconnect();
  });

  it('any packets', async () => {
    const packet = fc.oneof(
      fc.string(),
      fc
        .tuple(fc.constantFrom('2', '3', '4', '5', '6'), fc.string())
        .map((parts) => parts.join('')),
      fc
        .tuple(
          fc.constantFrom('40', '41', '42', '43', '44', '45', '46', '421', '451-', '461-1'),
          fc.json(),
        )
        .map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(packet, { minLength: 1, maxLength: 6 }), async (packets) => {
        const { socket } = await raw();
        for (const each of packets) socket.send(each);
        socket.close();
        await closed(socket);
        expect(await honest.emitWithAck('fleet', {})).toMatchObject({ ok: true });
      }),
      settings,
    );
  });
});
