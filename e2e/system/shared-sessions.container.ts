import { isEvent, type Event } from '@belay/protocol';
import { until } from '@belay/testing';
import {
  idle,
  run,
  script,
  SharedServers,
  start,
  type BelayServer,
  type Followed,
} from '@belay/testkit';
import { counting, endCounting, expectCountedOnce } from './counting.js';

const isAsked = (event: Event): boolean => isEvent(event, 'approval');

/** Sessions that count, some at each of two servers; all that is asked about them goes to the first. */
async function someAtEach(servers: SharedServers): Promise<Followed[]> {
  const { first } = servers;
  const model = script(first.data, [{ calls: [counting] }, { finish: 'done' }]);
  const sessions: Followed[] = [];
  await until('each server has one', async () => {
    sessions.push(await start(first, { task: 'Count', model }));
    return (await ownersOf(servers)).size === 2;
  });
  return sessions;
}

async function ownersOf(servers: SharedServers): Promise<Set<string | null>> {
  const owners = new Set((await servers.owners()).values());
  owners.delete(null);
  return owners;
}

async function expectOnce(through: BelayServer, sessions: Followed[]): Promise<void> {
  const expectOne = async (session: Followed) => {
    await endCounting(through, session);
    await expectCountedOnce(session);
  };
  await Promise.all(sessions.map(expectOne));
}

describe('the sessions of a database', () => {
  const servers = new SharedServers();
  beforeAll(() => servers.start(2));
  afterAll(() => servers.dispose());
  afterEach(async () => {
    const { sessions } = servers.first.client;
    for (const { id } of await sessions.list()) await sessions.remove(id);
  });

  it('begin where the fewest are', async () => {
    const waiting: Followed[] = [];
    for (let count = 0; count < 4; count += 1) waiting.push(await idle(servers.first));
    const owners = [...(await servers.owners()).values()];
    const counts = Map.groupBy(owners, (owner) => owner);
    expect([...counts.values()].map((each) => each.length)).toEqual([2, 2]);
    for (const session of waiting) session.close();
  });

  it('are shared by its servers, and each of these shows all of them', async () => {
    const sessions = await someAtEach(servers);
    await expectOnce(servers.first, sessions);
    const finished = sessions.map(() => 'finished');
    for (const server of servers.all)
      expect((await server.client.sessions.list()).map(({ state }) => state)).toEqual(finished);
  });

  it('are operated through either of them', async () => {
    const { first, second } = servers;
    const model = script(first.data, [
      { calls: [run('echo approved > note.txt')] },
      { calls: [{ operation: 'ask', input: { question: 'Which one?' } }] },
      { finish: 'Done.' },
    ]);
    for (const through of [first, second, first]) {
      const session = await start(through, { task: 'Ask', model, approvals: 'ask' });
      const asked = await session.event(isAsked);
      const { sessions } = through.client;
      await sessions.answer(session.id, String(asked.args['id']), { verdict: 'approved' });
      await session.state('waiting');
      expect(await sessions.call(session.id, 'files.read', { path: 'note.txt' })).toMatchObject({
        content: 'approved\n',
      });
      await sessions.message(session.id, { text: 'The first.' });
      await session.finished();
      await sessions.remove(session.id);
      session.close();
      expect(await sessions.list()).toEqual([]);
    }
  });
});

describe('the sessions of a killed server', () => {
  let servers: SharedServers;
  beforeEach(async () => {
    servers = new SharedServers();
    await servers.start(2);
  });
  afterEach(() => servers.dispose());

  it('go on at the other one when their server is killed', async () => {
    const sessions = await someAtEach(servers);
    for (const session of sessions) await session.printed('line 2');
    await servers.second.end('SIGKILL');
    await until('one server has all', async () => (await ownersOf(servers)).size === 1);
    await expectOnce(servers.first, sessions);
  });

  it('go on when the server that serves the clients is killed', async () => {
    const sessions = await someAtEach(servers);
    for (const session of sessions) await session.printed('line 2');
    await servers.first.end('SIGKILL');
    const { second } = servers;
    for (const { id } of sessions)
      await until('it serves', () => second.client.sessions.get(id).catch(() => false));
    for (const session of sessions) session.follow(second);
    await expectOnce(second, sessions);
  });
});
