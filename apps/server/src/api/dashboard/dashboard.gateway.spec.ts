import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { dashboardPath, newEvent, type Event, type SessionSummary } from '@belay/protocol';
import { itLong, memoryInUse, pause, until } from '@belay/testing';
import { io, type Socket } from 'socket.io-client';
import { TransientNotices } from '../../logs/transient-notices.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { TestServer } from '../../testing/server.js';

/** Only a server that never answers exceeds it, even on a busy machine. */
const answerMs = 120_000;

/** A viewer that remembers what it has seen, as a dashboard does. */
class Viewer {
  readonly seqs: number[] = [];
  readonly chunks: { offset: number; bytes: Buffer }[] = [];
  readonly deltas: string[] = [];
  readonly fleet = new Map<string, SessionSummary | null>();
  /** Whether it acknowledges what it receives of terminals. */
  takes = true;
  socket!: Socket;

  constructor(
    private readonly server: TestServer,
    private readonly session: string,
  ) {}

  async connect(): Promise<this> {
    this.socket = io(this.server.url, {
      path: dashboardPath,
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      timeout: answerMs,
      extraHeaders: { authorization: `Bearer ${this.server.token}` },
    });
    this.socket.on('events', ({ events }: { events: Event[] }) =>
      this.seqs.push(...events.map(({ seq }) => seq)),
    );
    this.socket.on('terminal', ({ offset, bytes }, received: () => void) => {
      this.chunks.push({ offset, bytes: Buffer.from(bytes) });
      if (this.takes) received();
    });
    this.socket.on('delta', ({ text }) => this.deltas.push(text));
    this.socket.on('session', ({ id, summary }) => this.fleet.set(id, summary));
    await new Promise<void>((resolve, reject) => {
      this.socket.on('connect', resolve);
      this.socket.on('connect_error', reject);
      this.socket.once('disconnect', (reason) => reject(new Error(reason)));
    });
    return this;
  }

  get offset(): number {
    const last = this.chunks.at(-1);
    return last ? last.offset + last.bytes.length : 0;
  }

  async watch(): Promise<unknown> {
    const { session } = this;
    const after = this.seqs.at(-1) ?? 0;
    return this.ask('watch', { session, after, terminals: { main: this.offset } });
  }

  ask(name: string, input: unknown): Promise<unknown> {
    return this.socket.timeout(answerMs).emitWithAck(name, input);
  }
}

describe('the dashboard’s socket', () => {
  const server = new TestServer();
  let id: string;
  let viewers: Viewer[] = [];

  const viewer = async () => {
    const made = await new Viewer(server, id).connect();
    viewers.push(made);
    return made;
  };
  const plan = (markdown: string) =>
    server.log.append(id, [newEvent('agent', 'plan', { args: { markdown }, message: 'Plan' })]);
  const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

  beforeAll(() => server.start());
  afterAll(() => server.close());
  beforeEach(async () => {
    id = await server.session();
  });
  afterEach(() => {
    for (const each of viewers) each.socket.close();
    viewers = [];
  });

  it('replays the log and continues live, without a gap or a repetition in between', async () => {
    const writing = (async () => {
      for (let n = 0; n < 1_000; n += 1) {
        await plan(`${n}`);
        await turn();
      }
    })();
    const late: Viewer[] = [];
    for (let n = 0; n < 5; n += 1) {
      const next = await viewer();
      expect(await next.watch()).toEqual({ ok: true, value: {} });
      late.push(next);
      await pause(10, 'each viewer begins at another event');
    }
    await writing;
    const last = await server.log.lastSeq(id);
    for (const each of late) {
      await until('all events', () => each.seqs.at(-1) === last);
      expect(each.seqs).toEqual(upTo(last));
    }
  });

  it('survives storms of disconnects: no event and no byte twice or never', async () => {
    const terminals = server.app.get(TerminalLog);
    const sent = createHash('sha256');
    let size = 0;
    let writing = true;
    const writer = (async () => {
      for (let n = 0; n < 400; n += 1) {
        const bytes = randomBytes(1 + (n % 700));
        sent.update(bytes);
        await Promise.all([plan(`${n}`), terminals.append(id, 'main', size, bytes)]);
        size += bytes.length;
      }
      writing = false;
    })();
    const seen = new Viewer(server, id);
    viewers.push(seen);
    let connections = 0;
    while (writing || connections < 60) {
      await seen.connect();
      void seen.watch().catch(() => undefined);
      await pause(connections % 12, 'each connection lasts another time');
      seen.socket.disconnect();
      connections += 1;
    }
    await writer;
    await seen.connect();
    await seen.watch();
    const last = await server.log.lastSeq(id);
    await until('all events', () => seen.seqs.at(-1) === last);
    await until('all bytes', () => seen.offset === size);
    expect(seen.seqs).toEqual(upTo(last));
    const received = createHash('sha256');
    let at = 0;
    for (const { offset, bytes } of seen.chunks) {
      expect(offset).toBe(at);
      at += bytes.length;
      received.update(bytes);
    }
    expect(received.digest('hex')).toBe(sent.digest('hex'));
  });

  it('skips a slow viewer forward without delaying others', async () => {
    const terminals = server.app.get(TerminalLog);
    const slow = await viewer();
    slow.takes = false;
    const quick = await viewer();
    await slow.watch();
    await quick.watch();
    const piece = Buffer.alloc(64 * 1024, 'x');
    const total = 24 * 1024 * 1024;
    const before = memoryInUse().arrayBuffers;
    for (let at = 0; at < total; at += piece.length) {
      await terminals.append(id, 'main', at, piece);
    }
    await until('the quick one has the end', () => quick.offset === total);
    expect(memoryInUse().arrayBuffers - before).toBeLessThan(96 * 1024 * 1024);
    const taken = slow.chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect(taken).toBeLessThanOrEqual(320 * 1024);
    slow.takes = true;
    const again = slow.offset;
    await slow.ask('unwatch', { session: id });
    await slow.watch();
    await until('the slow one has the end', () => slow.offset === total);
    const skipped = slow.chunks.find(({ offset }) => offset > again);
    expect(skipped?.offset).toBeGreaterThan(total - 2 * 1024 * 1024);
  });

  itLong(
    'holds back events for a viewer whose connection takes none, and sends them later',
    async () => {
      const stalled = await viewer();
      const fine = await viewer();
      await stalled.watch();
      await fine.watch();
      const raw = (
        stalled.socket.io.engine.transport as unknown as { ws: { _socket: PausableSocket } }
      ).ws._socket;
      raw.pause();
      const text = 'x'.repeat(20_000);
      for (let n = 0; n < 1_500; n += 1) await plan(text);
      const last = await server.log.lastSeq(id);
      await until('the other has all', () => fine.seqs.at(-1) === last);
      expect(stalled.seqs.length).toBeLessThan(1_500);
      raw.resume();
      await until('the stalled one catches up', () => stalled.seqs.at(-1) === last);
      expect(stalled.seqs).toEqual(upTo(last));
    },
  );

  it('hangs up on a viewer that cannot be sent what it lacks, so that it connects again', async () => {
    const read = jest.spyOn(server.log, 'read').mockRejectedValueOnce(new Error('no database'));
    const first = await viewer();
    const reason = new Promise((resolve) => first.socket.once('disconnect', resolve));
    await first.watch().catch(() => undefined);
    expect(await reason).toBe('transport close');
    read.mockRestore();
    const again = await viewer();
    await again.watch();
    const last = await server.log.lastSeq(id);
    await until('all events', () => again.seqs.at(-1) === last);
  });

  it('streams partial text to viewers, and how far a workspace is', async () => {
    const watcher = await viewer();
    await watcher.watch();
    const other = await viewer();
    server.app.get(TransientNotices).delta(id, 'text', 'Hel');
    server.app.get(TransientNotices).delta(id, 'text', 'lo');
    await until('the text', () => watcher.deltas.join('') === 'Hello');
    const copied: object[] = [];
    watcher.socket.on('copied', (notice: object) => copied.push(notice));
    other.socket.on('copied', () => copied.push({ of: 'a session that it does not watch' }));
    server.app.get(TransientNotices).copied(id, 5, 10);
    await until('how far it is', () => copied.length > 0);
    expect(copied).toEqual([{ session: id, done: 5, total: 10 }]);
    expect(other.deltas).toEqual([]);
  });

  it('notifies the fleet of new sessions, changes of state and deletions', async () => {
    const watcher = await viewer();
    await watcher.ask('fleet', {});
    await until('the first summaries', () => watcher.fleet.get(id)?.state === 'running');
    await server.json('POST', `/api/sessions/${id}/pause`, {});
    await until('the pause', () => watcher.fleet.get(id)?.state === 'paused');
    await server.json('DELETE', `/api/sessions/${id}`);
    await until('the deletion', () => watcher.fleet.get(id) === null);
  });

  it('forwards keys to the agent, and takes screenshots while there is a viewer', async () => {
    const watcher = await viewer();
    const second = await viewer();
    const agent = server.sandboxes.agents.get(id)!;
    const keys = { session: id, terminal: 'main', data: 'ls\r' };
    expect(await watcher.ask('terminal.keys', keys)).toEqual({ ok: true, value: {} });
    expect(agent.calls).toEqual([
      { name: 'terminal.keys', input: { terminal: 'main', data: 'ls\r' } },
    ]);
    await watcher.ask('browser.watch', { session: id, watched: true });
    await second.ask('browser.watch', { session: id, watched: true });
    await second.ask('browser.watch', { session: id, watched: false });
    watcher.socket.disconnect();
    await until('nobody looks', () => agent.calls.length === 3);
    expect(agent.calls.slice(1).map(({ input }) => input)).toEqual([
      { watched: true },
      { watched: false },
    ]);
  });

  it('sets a terminal to the smallest size of its viewers', async () => {
    const [wide, tall, none] = [await viewer(), await viewer(), await viewer()];
    const agent = server.sandboxes.agents.get(id)!;
    const sizes = () =>
      agent.calls.map(({ name, input }) => {
        const { columns, rows } = input as { columns: number; rows: number };
        return `${name} ${columns}×${rows}`;
      });
    const fit = (who: Viewer, size: { columns: number; rows: number } | null) =>
      who.ask('terminal.fit', { session: id, terminal: 'main', size });
    await none.watch();
    await fit(wide, { columns: 200, rows: 30 });
    await fit(tall, { columns: 100, rows: 60 });
    expect(sizes()).toEqual(['terminal.resize 200×30', 'terminal.resize 100×30']);
    const args = { terminal: 'main', change: 'opened', columns: 120, rows: 30, holder: 'agent' };
    await server.sandboxes.says(server.log, id, { action: 'terminal', args });
    await until('one that opens is told', () => agent.calls.length === 3);
    tall.socket.disconnect();
    await until('one that leaves no longer counts', () => agent.calls.length === 4);
    await fit(wide, null);
    expect(sizes().slice(2)).toEqual(['terminal.resize 100×30', 'terminal.resize 200×30']);
  });

  it('tells an agent that connects what viewers show', async () => {
    const [watcher, left] = [await viewer(), await viewer()];
    const agent = server.sandboxes.agents.get(id)!;
    await left.ask('browser.watch', { session: id, watched: true });
    // As of a session whose server ended, or begins anew.
    server.sandboxes.agents.delete(id);
    await left.ask('browser.watch', { session: id, watched: false });
    const size = { columns: 80, rows: 24 };
    await watcher.ask('terminal.fit', { session: id, terminal: 'main', size });
    agent.calls.length = 0;
    server.sandboxes.connects(id, agent);
    const resized = { name: 'terminal.resize', input: { terminal: 'main', ...size } };
    expect(agent.calls).toEqual([{ name: 'browser.watch', input: { watched: false } }, resized]);
    server.sandboxes.agents.delete(id);
    await watcher.ask('browser.watch', { session: id, watched: true });
    agent.calls.length = 0;
    server.sandboxes.connects(id, agent);
    expect(agent.calls).toEqual([{ name: 'browser.watch', input: { watched: true } }, resized]);
  });

  it('tells who follows a session that it was deleted', async () => {
    const [watcher, left, other] = [await viewer(), await viewer(), await viewer()];
    const told: unknown[] = [];
    for (const each of [watcher, left]) each.socket.on('gone', (notice) => told.push(notice));
    await watcher.watch();
    await left.watch();
    await left.ask('unwatch', { session: id });
    await server.json('DELETE', `/api/sessions/${id}`);
    await until('it is told', () => told.length > 0);
    // Whoever had left it is not told: the answer comes after all that was sent to it before.
    await left.ask('unwatch', { session: id });
    const error = { code: 'not_found', message: 'The session was deleted.' };
    expect(told).toEqual([{ session: id, error }]);
    // The connection goes on, with another session.
    const session = await server.session();
    expect(await watcher.ask('watch', { session, after: 0 })).toEqual({ ok: true, value: {} });
    expect(await other.ask('watch', { session: id, after: 0 })).toMatchObject({
      error: { code: 'not_found' },
    });
  });

  it('answers what cannot be done with an error', async () => {
    const watcher = await viewer();
    expect(await watcher.ask('watch', { session: 'none', after: 0 })).toMatchObject({
      ok: false,
      error: { code: 'not_found' },
    });
    expect(await watcher.ask('watch', { session: id, after: -1 })).toMatchObject({
      error: { code: 'invalid_input' },
    });
    const end = await server.log.lastSeq(id);
    expect(await watcher.ask('watch', { session: id, after: end + 1 })).toMatchObject({
      error: { code: 'invalid_input' },
    });
    expect(await watcher.ask('watch', { session: id, after: end })).toMatchObject({ ok: true });
    expect(await watcher.ask('terminal.open', { session: id, terminal: '../x' })).toMatchObject({
      error: { code: 'invalid_input' },
    });
  });
});

interface PausableSocket {
  pause(): void;
  resume(): void;
}
