import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { RelayedServer } from '../testing/relayed-server.js';

const ready = { ready: true, database: true, engine: null, draining: false, reasons: [] };

describe('a probe of a server that stands by', () => {
  const server = new RelayedServer();
  let state: { hasDatabase: boolean; isEnding: boolean };
  const passed: string[] = [];
  /** Beyond `waitMs`, the first bytes of a connection are not waited for. */
  const open = (waitMs: number) =>
    server.open(
      ({ url: path }, response) => {
        passed.push(path ?? '');
        response.end('of the one that leads');
      },
      () => state,
      { waitMs, refusedMs: 2_000 },
    );
  beforeEach(async () => {
    passed.length = 0;
    state = { hasDatabase: true, isEnding: false };
    await open(600_000);
  });
  afterEach(() => server.close());
  const probe = async (path: string) => {
    const answer = await fetch(`${server.url}${path}`);
    return { status: answer.status, body: (await answer.json()) as object };
  };
  const alive = { status: 200, body: { ok: true } };

  it('is answered by that server: alive always, and ready while it can pass on', async () => {
    server.serve();
    expect(await probe('/health/live')).toEqual(alive);
    expect(await probe('/health/ready')).toEqual({ status: 200, body: ready });
    expect(passed).toEqual([]);
    for (const path of ['/health', '/health/live/', '/health/ready?x', '/healthy', '/'])
      expect(await (await fetch(`${server.url}${path}`)).text()).toBe('of the one that leads');
    expect(passed).toHaveLength(5);
  });

  it('says that it is not ready, and why, while nobody serves, or it cannot know who does', async () => {
    const refused = async (more: object, reason: string) => {
      const body = { ...ready, ready: false, ...more, reasons: [reason] };
      expect(await probe('/health/ready')).toEqual({ status: 503, body });
      expect(await probe('/health/live')).toEqual(alive);
    };
    const nobody = 'No server can be reached that serves clients.';
    // The lead is about to begin.
    await refused({}, nobody);
    server.serve();
    state.hasDatabase = false;
    await refused({ database: false }, 'The database does not respond.');
    state = { hasDatabase: true, isEnding: true };
    await refused({ draining: true }, 'The server is shutting down.');
    state.isEnding = false;
    expect(await probe('/health/ready')).toEqual({ status: 200, body: ready });
    const known = server.holder;
    for (const other of [undefined, known && { ...known, isAlive: false }]) {
      server.holder = other;
      await refused({}, nobody);
    }
    expect(passed).toEqual([]);
  });

  it('may come in pieces, and so may any other request', async () => {
    server.serve();
    for (const [path, answer] of [
      ['/health/live', '{"ok":true}'],
      ['/health/lives', 'of the one that leads'],
    ] as const) {
      const socket = connect({ port: server.relay.port, host: '127.0.0.1', noDelay: true });
      const answered = text(socket);
      for (const byte of `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`) {
        socket.write(byte);
        await new Promise(setImmediate);
      }
      expect(await answered).toContain(answer);
    }
    expect(passed).toEqual(['/health/lives']);
  });

  it('is one alone: what follows it on its connection is not served', async () => {
    server.serve();
    const socket = connect({ port: server.relay.port, host: '127.0.0.1' });
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
    socket.write(request('/health/live') + request('/api/sessions'));
    expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(passed).toEqual([]);
  });

  it('is not awaited of a client that says nothing: it is passed on', async () => {
    server.close();
    await open(100);
    server.serve();
    const accepted = once(server.http, 'connection');
    const socket = connect({ port: server.relay.port, host: '127.0.0.1' });
    await accepted;
    socket.write('GET /late HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    expect(await text(socket)).toContain('of the one that leads');
    expect(passed).toEqual(['/late']);
  });
});
