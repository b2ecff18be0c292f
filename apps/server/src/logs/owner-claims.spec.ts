import { newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../storage/database-schema.js';
import { connectionName, postgres } from '../storage/postgres.js';
import { serverId } from '../server-id.js';
import { addLiveServer } from '../testing/add-live-server.js';
import { alwaysOnEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';

alwaysOnEveryDatabase('a claim', (databases, name) => {
  let logs: TestLogs;
  beforeEach(async () => void (logs = await new TestLogs(databases).open()));
  afterEach(() => logs.close());

  const ids = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id);
  const note = (text: string) => [newEvent('user', 'message', { args: { text }, message: text })];
  /** From now on, what is stored is so before this server learns it: until `goesOn`. */
  function delayAnswers() {
    const { store } = logs;
    const transaction = store.transaction.bind(store);
    const [stored, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    store.transaction = async (work) => {
      const done = await transaction(work);
      stored.resolve();
      await goesOn.promise;
      return done;
    };
    return { stored: stored.promise, goesOn: goesOn.resolve };
  }
  const isOf = (id: string, owner: string) =>
    logs.database.kysely.updateTable('session').set({ owner }).where('id', '=', id).execute();

  it('leaves a session that begins here', async () => {
    const { stored, goesOn } = delayAnswers();
    const created = logs.session('new');
    await stored;
    expect(await logs.log.claims.handed()).toEqual([]);
    goesOn();
    await created;
    await logs.log.append('new', note('It goes on.'));
    expect(await logs.log.claims.handed()).toEqual([]);
  });

  it('leaves a session that this server begins to work on by itself', async () => {
    await logs.session('idle');
    await logs.log.release('idle');
    const { stored, goesOn } = delayAnswers();
    const appended = logs.log.append('idle', note('first'));
    await stored;
    expect(await logs.log.claims.handed()).toEqual([]);
    goesOn();
    await appended;
    await logs.log.append('idle', note('second'));
  });

  it('stays with a session that goes on before it was released', async () => {
    await logs.session('one');
    const { owner } = (await logs.store.find('one')) ?? {};
    await logs.log.release('one', () => true);
    expect(await logs.store.find('one')).toMatchObject({ owner });
    await logs.log.release('one', () => false);
    expect(await logs.store.find('one')).toMatchObject({ owner: null });
  });

  it('stays with a session that goes on in the transaction that would release it', async () => {
    await logs.session('one');
    const { owner } = (await logs.store.find('one')) ?? {};
    await Promise.all([
      logs.log.append('one', note('first')),
      logs.log.release('one'),
      logs.log.append('one', note('second')),
    ]);
    expect(await logs.store.find('one')).toMatchObject({ owner });
  });

  it('takes nothing more into the log of a session in the transaction that hands it over', async () => {
    await logs.session('one');
    const [, , epoch] = await Promise.allSettled([
      logs.log.append('one', note('first')),
      logs.log.handOver('one', 'other'),
      logs.log.nextEpoch('one'),
    ]);
    expect(epoch).toMatchObject({ reason: { code: 'unavailable' } });
    expect(await logs.store.find('one')).toMatchObject({ owner: 'other', epoch: 0 });
  });

  it('takes a session once while another claim takes it', async () => {
    await logs.session('one');
    await logs.log.handOver('one', 'dead');
    const { owners } = logs.store;
    const claimLeft = owners.claimLeft.bind(owners);
    const goesOn = Promise.withResolvers<void>();
    owners.claimLeft = async (owns) => {
      const records = await claimLeft(owns);
      await goesOn.promise;
      return records;
    };
    const left = logs.log.claims.left();
    await until('it is taken', async () => (await logs.store.ownerOf('one')) === serverId);
    const handed = logs.log.claims.handed();
    await owners.ofThisServer();
    goesOn.resolve();
    expect([await left, await handed].map(ids)).toEqual([['one'], []]);
    await logs.log.append('one', note('It goes on.'));
  });

  it('finds again what was taken by one whose answer was lost', async () => {
    await logs.session('one');
    await logs.log.handOver('one', 'other');
    await isOf('one', serverId);
    const { owners } = logs.store;
    const claim = owners.claim.bind(owners);
    owners.claim = async (sessions) => {
      owners.claim = claim;
      await claim(sessions);
      throw new Error('Connection terminated unexpectedly');
    };
    await expect(logs.log.claims.handed()).rejects.toThrow('Connection terminated');
    expect(ids(await logs.log.claims.handed())).toEqual(['one']);
    expect(await logs.log.claims.handed()).toEqual([]);
    await logs.log.append('one', note('It goes on.'));
  });

  if (name === 'PostgreSQL') describe('among servers', ofServers);

  function ofServers(): void {
    const alive = (id: string, address: string | null) =>
      addLiveServer(logs.database.kysely, { id, address });
    /** A session that another server has. */
    async function owned(session: string, owner: string): Promise<void> {
      await logs.session(session);
      await logs.log.handOver(session, owner);
    }
    const claimed = async () => (await logs.log.claims.left()).map(({ id }) => id);

    it('takes the sessions of a server that was alone and has just been killed, not of one that shares', async () => {
      await alive('alone', null);
      await alive('sharing', 'sharing:1');
      await owned('one', 'alone');
      await owned('two', 'sharing');
      expect(await claimed()).toEqual(['one']);
    });

    it('takes sessions that a server was stopped in the middle of changing, which it then cannot', async () => {
      await owned('one', 'stopped');
      const stopped = new Kysely<DatabaseSchema>({
        dialect: postgres(logs.config.databaseUrl ?? ''),
      });
      const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const stored = stopped.transaction().execute(async (transaction) => {
        const own = connectionName('stopped');
        await sql`select set_config('application_name', ${own}, false)`.execute(transaction);
        await transaction.updateTable('session').set({ agent_n: 7 }).execute();
        begun.resolve();
        await goesOn.promise;
      });
      await begun.promise;
      expect(await claimed()).toEqual(['one']);
      goesOn.resolve();
      await expect(stored).rejects.toThrow();
      await stopped.destroy();
      expect(await logs.store.find('one')).toMatchObject({ agentN: 0 });
    });
  }
});
