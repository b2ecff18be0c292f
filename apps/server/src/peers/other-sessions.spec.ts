import { newEvent } from '@belay/protocol';
import { PostgresCluster } from '@belay/testing';
import { LiveServers } from '../storage/live-servers.js';
import { serverId } from '../server-id.js';
import { addLiveServer } from '../testing/add-live-server.js';
import { TestLogs } from '../testing/logs.js';
import { OtherSessions } from './other-sessions.js';

describe('the sessions of other servers', () => {
  let cluster: PostgresCluster;
  let logs: TestLogs;
  let sessions: OtherSessions;
  /** What the log was told since the last look. */
  let told: string[];
  beforeAll(async () => void (cluster = await PostgresCluster.start()));
  afterAll(() => cluster.stop());
  beforeEach(async () => {
    const DATABASE_URL = await cluster.database();
    logs = await new TestLogs({
      fresh: () => Promise.resolve({ DATABASE_URL, BELAY_PEER_URL: 'tcp://127.0.0.1:1' }),
    }).open();
    await logs.session('s');
    await logs.reopen();
    const servers = new LiveServers(logs.database, logs.config);
    sessions = new OtherSessions(logs.log, logs.database, servers);
    told = [];
    logs.log.subscribeSummaries((id, summary) => told.push(`${id} ${summary?.state ?? 'deleted'}`));
    logs.log.onMoved((id) => told.push(`${id} moved`));
  });
  afterEach(() => logs.close());

  const look = async () => {
    told.length = 0;
    const hasOthers = await sessions.lookOnce();
    return { hasOthers, told: [...told] };
  };
  const own = (owner: string | null) =>
    logs.database.kysely.updateTable('session').set({ owner }).where('id', '=', 's').execute();
  const add = () => addLiveServer(logs.database.kysely, { id: 'other' });
  const pause = () =>
    newEvent('server', 'state', { args: { state: 'paused', reason: null }, message: 'Paused.' });

  it('are told once for each change, and when they come and leave', async () => {
    expect(await look()).toEqual({ hasOthers: false, told: [] });
    await add();
    expect(await look()).toEqual({ hasOthers: true, told: [] });
    await own('other');
    expect(await look()).toMatchObject({ told: ['s moved', 's running'] });
    expect(await look()).toMatchObject({ told: [] });
    // As the other server would.
    await own(serverId);
    await logs.log.append('s', [pause()]);
    await own('other');
    expect(await look()).toMatchObject({ told: ['s paused'] });
    await own(null);
    expect(await look()).toMatchObject({ told: ['s paused', 's moved'] });
    expect(await look()).toMatchObject({ told: [] });
  });

  it('are told when they are deleted, and when their server ends', async () => {
    const other = await add();
    await own('other');
    await look();
    await other.leave();
    expect(await look()).toMatchObject({ told: ['s running', 's moved'] });
    await add();
    await look();
    await logs.store.transaction((connection) => logs.store.remove(connection, 's'));
    expect(await look()).toMatchObject({ told: ['s deleted', 's moved'] });
  });
});
