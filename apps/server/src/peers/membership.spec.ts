import { newEvent } from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../storage/database-schema.js';
import { Config } from '../config.js';
import { lease } from '../storage/lease.js';
import { LiveServers } from '../storage/live-servers.js';
import { ownLoad } from '../storage/server-load.js';
import { connectionName, postgres } from '../storage/postgres.js';
import { addLiveServer } from '../testing/add-live-server.js';
import { onPostgres } from '../testing/databases.js';
import { TestLogs, type TestDatabases } from '../testing/logs.js';
import { Membership } from './membership.js';
import { ServerRows } from './server-rows.js';

const ofOneDatabase = (databases: TestDatabases) => {
  let logs: TestLogs;
  const open = new Set<Membership>();
  beforeEach(async () => void (logs = await new TestLogs(databases).open()));
  afterEach(async () => {
    for (const membership of open) await leave(membership);
    lease.hold();
    await logs.close();
  });

  const row = (id: string, address: string | null = `${id}:1`, files = 'folder') =>
    new ServerRows(logs.database.kysely, { id, address, files, key: 'k' });

  const alive = (id: string, files?: string) =>
    addLiveServer(logs.database.kysely, { id, ...(files && { files }) });

  async function join(rows: ServerRows) {
    const suspended: string[] = [];
    const membership = new Membership(rows, {
      moved: () => {},
      suspended: (reason) => suspended.push(reason),
    });
    await rows.add();
    membership.start();
    open.add(membership);
    return { membership, suspended };
  }
  async function leave(membership: Membership): Promise<void> {
    open.delete(membership);
    await membership.close();
  }
  /** One that had its turn, and has stored no beat for long. */
  async function killed(rows: ServerRows): Promise<void> {
    await rows.add();
    await rows.take();
    await logs.database.kysely.updateTable('server').set({ beat: 0 }).execute();
  }
  const shared = () =>
    new Config({ DATABASE_URL: logs.config.databaseUrl, BELAY_PEER_URL: 'tcp://127.0.0.1:1' });
  const holder = async () => (await row('who asks').holder())?.id;
  const works = (): boolean => {
    try {
      lease.assertHeld();
      return true;
    } catch {
      return false;
    }
  };
  const renamed = (from: string, to: string) =>
    logs.database.kysely.schema.alterTable(from).renameTo(to).execute();
  /** No beat is stored until `giveBack`. */
  const takeAway = () => renamed('server', 'away');
  const giveBack = () => renamed('away', 'server');
  const pause = () =>
    newEvent('server', 'state', { args: { state: 'paused', reason: null }, message: 'Paused.' });

  it('one at a time has its turn: the next when it leaves, and after that was killed', async () => {
    const first = await join(row('first'));
    await first.membership.turn();
    const second = await join(row('second'));
    await until('it knows the first', () => second.membership.holder?.id === 'first');
    await leave(first.membership);
    await second.membership.turn();
    expect(await holder()).toBe('second');
    expect(first.suspended).toEqual([]);
    await leave(second.membership);
    await killed(row('third'));
    const fourth = await join(row('fourth'));
    await fourth.membership.turn();
    expect(await holder()).toBe('fourth');
  });

  itLong('each may work as long as its beats are stored, also those that do not lead', async () => {
    const first = await alive('first');
    await first.take();
    lease.standBy();
    const second = await join(row('second'));
    expect(works()).toBe(false);
    await until('its beat is stored', works);
    expect(second.membership.holder?.id).toBe('first');
    expect(lease.isHeld).toBe(false);
    await first.leave();
    await second.membership.turn();
    expect(lease.isHeld).toBe(true);
    await second.membership.work();
    await takeAway();
    await until('it notices', () => second.suspended.length > 0);
    expect(second.suspended[0]).toMatch(/^Its database did not respond/);
    expect(works()).toBe(false);
    await giveBack();
  });

  itLong('one that is still starting, on a busy machine, may miss its beats', async () => {
    const { membership, suspended } = await join(row('first'));
    await membership.turn();
    await takeAway();
    await until('it has missed its beats', () => !works());
    expect(suspended).toEqual([]);
    const work = membership.work();
    await giveBack();
    // A server that others take for ended does not begin to work.
    await work;
    expect(works()).toBe(true);
    expect(suspended).toEqual([]);
  });

  itLong('one that does not share it refuses others, and is refused', async () => {
    const alone = await join(row('alone', null));
    await alone.membership.turn();
    const others = [await join(row('another', null, 'elsewhere')), await join(row('third'))];
    for (const { membership } of others)
      await expect(membership.turn()).rejects.toThrow(
        /^Another Belay server uses this database: stop it, or give each of them BELAY_PEER_URL/,
      );
    expect(await holder()).toBe('alone');
  });

  it('one that does not share it takes over at once on the same folder, which is locked', async () => {
    const alone = await join(row('alone', null));
    await alone.membership.turn();
    const again = await join(row('again', null));
    await again.membership.turn();
    await until('the first one notices', () => alone.suspended.length > 0);
    expect(alone.suspended[0]).toBe('Another server has its place.');
  });

  it('one that works does not go on when others have taken it for ended', async () => {
    const { membership, suspended } = await join(row('first'));
    await membership.turn();
    const beat = () =>
      logs.database.kysely.selectFrom('server').select('beat').executeTakeFirstOrThrow();
    const miss = () => logs.database.kysely.updateTable('server').set({ beat: 0 }).execute();
    // It is still starting.
    await miss();
    await until('it is alive again', async () => Number((await beat()).beat) > 0);
    expect(suspended).toEqual([]);
    await membership.work();
    await miss();
    // A busy machine may have kept it from its beats for so long that it stops for that reason, too.
    await until('it notices', () => suspended.includes('Other servers took it for ended.'));
    expect(Number((await beat()).beat)).toBe(0);
  });

  it('each tells the others its load with its beats', async () => {
    const servers = new LiveServers(logs.database, shared());
    const second = await join(row('second'));
    await second.membership.turn();
    const loads = async () =>
      (await servers.others()).map(({ sandboxes, leads }) => [sandboxes, leads]);
    expect(await loads()).toEqual([[0, true]]);
    ownLoad.reportBy(() => ({ instance: 'engine', sandboxes: 3, capacity: 8 }));
    await until('it is told', async () => (await loads())[0]?.[0] === 3);
    expect(await servers.others()).toMatchObject([
      { id: 'second', instance: 'engine', capacity: 8 },
    ]);
    await alive('third');
    expect((await loads()).map(([, leads]) => leads)).toEqual(
      expect.arrayContaining([false, true]),
    );
    ownLoad.reportBy(() => ({ instance: null, sandboxes: 0, capacity: 0 }));
  });

  it('none has other files than those that are alive', async () => {
    const first = await alive('first');
    const other = await alive('second', 'another folder');
    expect(await other.stranger()).toBe('first:1');
    expect(await row('third').stranger()).toBe('second:1');
    await first.leave();
    expect(await other.stranger()).toBeUndefined();
  });

  it('none stores what it was about to when it was stopped', async () => {
    await logs.session('s');
    const stopped = new Kysely<DatabaseSchema>({
      dialect: postgres(logs.config.databaseUrl ?? ''),
    });
    const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const stored = stopped.transaction().execute(async (transaction) => {
      const name = connectionName('first');
      await sql`select set_config('application_name', ${name}, false)`.execute(transaction);
      await transaction.updateTable('session').set({ agent_n: 7 }).execute();
      begun.resolve();
      await goesOn.promise;
    });
    await begun.promise;
    await killed(row('first'));
    const second = await join(row('second'));
    await second.membership.turn();
    // The row is no longer locked.
    await logs.log.append('s', [pause()]);
    goesOn.resolve();
    await expect(stored).rejects.toThrow();
    await stopped.destroy();
    expect(await logs.store.find('s')).toMatchObject({ agentN: 0, summary: { state: 'paused' } });
  });

  it('none stores anything once its turn may be over', async () => {
    await logs.session('s');
    lease.renew(performance.now() - 1);
    await expect(logs.log.append('s', [pause()])).rejects.toMatchObject({ code: 'unavailable' });
    await expect(logs.session('t')).rejects.toMatchObject({ code: 'unavailable' });
    lease.renew(Infinity);
    await logs.log.append('s', [pause()]);
    expect(await logs.store.all()).toHaveLength(1);
  });
};

describe('of the servers of one database', () => onPostgres(ofOneDatabase));
