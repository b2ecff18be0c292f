import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AppError,
  dashboardPath,
  type Event,
  type ViewerCalls,
  type ViewerNotices,
} from '@belay/protocol';
import { Server } from 'socket.io';
import { LiveConnection } from './live-connection.js';

const event = (seq: number): Event => ({
  seq,
  time: '2026-01-01T00:00:00.000Z',
  source: 'agent',
  action: 'think',
  args: {},
  message: `Event ${seq}`,
});

describe('the live side', () => {
  let http: HttpServer;
  let io: Server<ViewerCalls, ViewerNotices>;
  let url: string;
  let live: LiveConnection;

  beforeEach(async () => {
    http = createServer();
    io = new Server(http, { path: dashboardPath });
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    live = new LiveConnection({ url, token: 'secret' });
  });

  afterEach(async () => {
    live.close();
    await io.close();
  });

  it('asks again from the last event and byte after a break, and passes each on once', async () => {
    const asked: unknown[] = [];
    io.on('connection', (socket) => {
      socket.on('watch', ({ session, after, terminals }, answer) => {
        asked.push({ after, terminals });
        answer({ ok: true, value: {} });
        const again = asked.length > 1;
        // The second time one event and some bytes come twice, as after a break between sending and counting.
        socket.emit('events', {
          session,
          events: again ? [event(2), event(3)] : [event(1), event(2)],
        });
        const bytes = Buffer.from(again ? 'cdef' : 'abcd');
        socket.emit('terminal', { session, terminal: 'main', offset: again ? 2 : 0, bytes }, () => {
          if (!again) socket.conn.close();
        });
      });
    });
    const seqs: number[] = [];
    let text = '';
    const done = new Promise<void>((resolve) => {
      live.watch('s', {
        events: (events) => void seqs.push(...events.map((each) => each.seq)),
        terminal: ({ bytes }) => {
          text += new TextDecoder().decode(bytes);
          if (text.length === 6) resolve();
        },
      });
    });
    await done;
    expect(seqs).toEqual([1, 2, 3]);
    expect(text).toBe('abcdef');
    expect(asked).toEqual([
      { after: 0, terminals: {} },
      { after: 2, terminals: { main: 4 } },
    ]);
  });

  it('passes on that a session was deleted, and nothing after it', async () => {
    io.on('connection', (socket) => {
      socket.on('watch', ({ session }, answer) => {
        answer({ ok: true, value: {} });
        const error = { code: 'not_found', message: 'The session was deleted.' } as const;
        socket.emit('events', { session, events: [event(1)] });
        socket.emit('gone', { session, error });
        socket.emit('events', { session, events: [event(2)] });
        socket.emit('session', { id: session, summary: null });
      });
    });
    const seen: string[] = [];
    const last = new Promise((resolve) => live.fleet((id) => resolve(id)));
    live.watch('s', {
      events: (events) => void seen.push(...events.map(({ seq }) => `event ${seq}`)),
      refused: ({ code }) => void seen.push(code),
    });
    await last;
    expect(seen).toEqual(['event 1', 'not_found']);
  });

  it('sends the token in a header, never in the address', async () => {
    const headers = new Promise((resolve) => {
      io.on('connection', (socket) =>
        resolve([socket.handshake.headers.authorization, socket.handshake.url.includes('secret')]),
      );
    });
    expect(await headers).toEqual(['Bearer secret', false]);
  });

  it('asks for the benchmark runs again after a break', async () => {
    let asked = 0;
    io.on('connection', (socket) =>
      socket.on('evaluations', (_, answer) => {
        asked += 1;
        answer({ ok: true, value: {} });
        socket.emit('evaluation', { id: `run-${asked}`, summary: null });
        if (asked === 1) socket.conn.close();
      }),
    );
    const told: string[] = [];
    await new Promise<void>((resolve) => {
      live.evaluations((id) => {
        told.push(id);
        if (told.length === 2) resolve();
      });
    });
    expect(told).toEqual(['run-1', 'run-2']);
  });

  it('notifies a watcher that a session was deleted', async () => {
    const error = { code: 'not_found' as const, message: 'There is no session s.' };
    io.on('connection', (socket) =>
      socket.on('watch', (_, answer) => answer({ ok: false, error })),
    );
    const refused = await new Promise<AppError>((resolve) => {
      live.watch('s', { events: () => undefined, refused: resolve });
    });
    expect(refused).toMatchObject(error);
  });

  it('rejects a request with the server’s own error', async () => {
    io.on('connection', (socket) =>
      socket.on('terminal.keys', (_, answer) =>
        answer({ ok: false, error: { code: 'conflict', message: 'The agent is in control.' } }),
      ),
    );
    const keys = live.request('terminal.keys', { session: 's', terminal: 'main', data: 'x' });
    await expect(keys).rejects.toMatchObject({
      code: 'conflict',
      message: 'The agent is in control.',
    });
  });
});
