import { randomBytes } from 'node:crypto';
import { newEvent } from '@belay/protocol';
import { Config } from '../../config.js';
import { Database } from '../../storage/database.js';
import type { ObjectStore } from '../../storage/object-store.js';
import { TestLogs, type TestDatabases } from '../../testing/logs.js';
import { EventLog } from '../event-log.js';
import { SessionsStore } from '../sessions.store.js';
import { TerminalLog } from '../terminal-log.js';
import { TerminalPieces } from '../terminal-pieces.js';
import { terminalLogCases } from './terminal-log-cases.js';

const mebibyte = 2 ** 20;

/** What holds for pieces on this database, with objects in the storage that `objects` returns. */
export function terminalPieceCases(
  objects: (logs: TestLogs) => ObjectStore | Promise<ObjectStore>,
  databases?: TestDatabases,
): void {
  terminalLogCases(
    async (logs) => new TerminalPieces(logs.database, await objects(logs), logs.log),
    databases,
  );

  describe('with several servers', () => {
    let logs: TestLogs;
    let stored: ObjectStore;
    let servers: Server[];
    beforeEach(async () => {
      logs = await new TestLogs(databases).open();
      await logs.session('s');
      stored = await objects(logs);
      servers = [];
    });
    afterEach(async () => {
      for (const server of servers) await server.close();
      await logs.close();
    });
    const start = (env: Record<string, string> = {}) => {
      const server = new Server(logs, stored, env);
      servers.push(server);
      return server;
    };
    const rows = () =>
      logs.database.kysely.selectFrom('terminal_piece').selectAll().orderBy('start').execute();

    it('become objects of 1 to 8 MiB, of which every byte is read', async () => {
      const { terminals, pieces } = start();
      const content = randomBytes(5 * mebibyte);
      const step = 60_000;
      for (let at = 0; at < content.length; at += step)
        await terminals.append('s', 'main', at, content.subarray(at, at + step));
      await pieces.onApplicationShutdown();
      const found = await objectsIn(stored);
      expect(found.length).toBeGreaterThan(0);
      for (const { bytes } of found) {
        expect(bytes).toBeGreaterThanOrEqual(mebibyte);
        expect(bytes).toBeLessThanOrEqual(8 * mebibyte);
      }
      const inRows = (await rows()).reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
      expect(inRows).toBeLessThan(mebibyte + 2 * step);
      for (const reader of [terminals, start().terminals]) {
        expect((await reader.read('s', 'main', 0, 1e9)).equals(content)).toBe(true);
        for (const [from, to] of [
          [mebibyte - 3, mebibyte + 3],
          [123, 1_000],
          [2 * mebibyte - 70_000, 4 * mebibyte],
        ] as const)
          expect(
            (await reader.read('s', 'main', from, to)).equals(content.subarray(from, to)),
          ).toBe(true);
      }
      await terminals.remove('s');
      expect([await objectsIn(stored), await rows()]).toEqual([[], []]);
    });

    it('attacks: tiny and unkept output fills no table', async () => {
      const { terminals, pieces } = start({ BELAY_SESSION_MB: '1' });
      const before = await pieces.used('s');
      for (let at = 0; at < 600; at += 1) await terminals.append('s', 'main', at, letter(at));
      await pieces.onApplicationShutdown();
      expect((await rows()).length).toBeLessThan(600 - 2 * 250 + 10);
      expect(await pieces.used('s')).toBeLessThan(before + 600 + 128 * 110);
      const text = Buffer.concat(Array.from({ length: 600 }, (_, at) => letter(at)));
      expect(await terminals.read('s', 'main', 0, 1_000)).toEqual(text);
      // Beyond the budget of half a MiB.
      const flood = Buffer.alloc(100_000, 'x');
      for (let at = 0; at < 10; at += 1) await terminals.append('s', 'flood', at * 1e5, flood);
      const full = (await rows()).length;
      for (let at = 10; at < 100; at += 1) await terminals.append('s', 'flood', at * 1e5, flood);
      expect((await rows()).length).toBe(full);
      expect(await terminals.size('s', 'flood')).toBe(1e7);
      const kept = (await terminals.read('s', 'flood', 0, 1e7)).toString();
      // Patterns overflow the stack in so much text.
      const notice = kept.replaceAll('\0', '').replaceAll('x', '');
      expect([kept.at(0), kept.at(-1)]).toEqual(['x', '\0']);
      expect(notice).toMatch(
        /^\r\n.*limit of 0.5 MiB: what follows is shown live and not kept\..*\]\r\n$/,
      );
    });

    it('attacks: a former writer changes nothing, however late and often it writes', async () => {
      const [first, second] = [start(), start()];
      await first.terminals.append('s', 'main', 0, Buffer.from('of the first, '));
      await first.terminals.show('s', 'hidden', 0, Buffer.from('secret'));
      const late = { session: 's', terminal: 'main', offset: 14, length: 4 };
      const hidden = { session: 's', terminal: 'hidden', offset: 6, length: 4 };
      // The first one stands still between its look at the size and its write.
      for (const place of [late, hidden]) await first.pieces.begin(place);
      await second.log.append('s', [said('The second continues.')]);
      const refused = { code: 'unavailable' };
      const written = { ...late, kept: Buffer.from('late') };
      await expect(first.pieces.append(written)).rejects.toMatchObject(refused);
      const unkept = { ...hidden, kept: Buffer.alloc(0) };
      await expect(first.pieces.append(unkept)).rejects.toMatchObject(refused);
      expect(await second.terminals.size('s', 'main')).toBe(14);
      await second.terminals.append('s', 'main', 14, Buffer.from('of the second'));
      for (const offset of [14, 27]) {
        const again = first.terminals.append('s', 'main', offset, Buffer.from('x'.repeat(30)));
        await expect(again).rejects.toMatchObject(refused);
      }
      for (const { terminals } of [second, start()])
        expect((await terminals.read('s', 'main', 0, 100)).toString()).toBe(
          'of the first, of the second',
        );
      expect(await second.terminals.list('s')).toEqual([
        { terminal: 'hidden', size: 6 },
        { terminal: 'main', size: 27 },
      ]);
    });

    it('attacks: of writes at once by two servers, each is whole or refused', async () => {
      const [first, second] = [start(), start()];
      for (let round = 0; round < 20; round += 1) {
        const size = await second.terminals.size('s', 'main');
        const [one, other] = round % 2 === 0 ? [first, second] : [second, first];
        const takeOver = other.log.append('s', [said(`Round ${round}`)]).catch(() => undefined);
        const written = await Promise.allSettled([
          one.terminals.append('s', 'main', size, Buffer.from(`<${round}>`)),
          takeOver.then(() => other.terminals.append('s', 'main', size, Buffer.from(`<${round}>`))),
        ]);
        for (const result of written)
          if (result.status === 'rejected') expect(result.reason.code).toBe('unavailable');
      }
      const { terminals } = start();
      const text = (await terminals.read('s', 'main', 0, 1e6)).toString();
      expect(text).toMatch(/^(<\d+>)+$/);
      const numbers = text.match(/\d+/g)?.map(Number) ?? [];
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    });

    it('are put together by two servers at once, and lose nothing', async () => {
      const [first, second] = [start(), start()];
      const piece = (at: number) => Buffer.alloc(50_000, `${at % 10}`);
      for (let at = 0; at < 20; at += 1)
        await first.terminals.append('s', 'main', at * 50_000, piece(at));
      await second.log.append('s', [said('The second continues.')]);
      // Both have enough for an object now: the first one has just stored it.
      await Promise.all([
        first.terminals.append('s', 'other', 0, Buffer.alloc(1)).catch(() => undefined),
        (async () => {
          for (let at = 20; at < 50; at += 1)
            await second.terminals.append('s', 'main', at * 50_000, piece(at));
        })(),
      ]);
      for (const { pieces } of [first, second]) await pieces.onApplicationShutdown();
      const all = Buffer.concat(Array.from({ length: 50 }, (_, at) => piece(at)));
      expect((await first.terminals.read('s', 'main', 0, 1e9)).equals(all)).toBe(true);
      const named = new Set((await rows()).map(({ object }) => object));
      for (const { key } of await objectsIn(stored)) expect(named).toContain(key);
    });
  });
}

/** A server of its own on the same database. */
class Server {
  readonly log: EventLog;
  readonly pieces: TerminalPieces;
  readonly terminals: TerminalLog;
  readonly #database: Database;

  constructor(logs: TestLogs, objects: ObjectStore, env: Record<string, string>) {
    const config = new Config({ ...logs.config.environment, ...env });
    this.#database = new Database(config);
    this.log = new EventLog(new SessionsStore(this.#database), config);
    this.pieces = new TerminalPieces(this.#database, objects, this.log);
    this.terminals = new TerminalLog(config, this.pieces);
  }

  async close(): Promise<void> {
    await this.pieces.onApplicationShutdown();
    await this.log.drained();
    await this.#database.onApplicationShutdown();
  }
}

const said = (text: string) => newEvent('user', 'message', { args: { text }, message: text });

const letter = (at: number) => Buffer.from(String.fromCodePoint(97 + (at % 26)));

async function objectsIn(store: ObjectStore) {
  const found: { key: string; bytes: number }[] = [];
  for await (const { key, bytes } of store.list('terminals')) found.push({ key, bytes });
  return found;
}
