import { isEvent, type Event } from '@belay/protocol';
import { eventually, itLong, until } from '@belay/testing';
import { run, script, SharedServers, start, type BelayServer, type Followed } from '@belay/testkit';
import { counting, endCounting, expectCountedOnce } from './counting.js';

const isAsked = (event: Event): boolean => isEvent(event, 'approval');

/** A session that counts; all that is asked about it goes to this server. */
function count(through: BelayServer): Promise<Followed> {
  const model = script(through.data, [{ calls: [counting] }, { finish: 'done' }]);
  return start(through, { task: 'Count', model });
}

/** Sessions that count, one at each of two servers; all that is asked about them goes to the first. */
async function oneAtEach(servers: SharedServers): Promise<[Followed, Followed]> {
  const sessions = [await count(servers.first), await count(servers.first)] as const;
  await eventually(async () => expect(await countsOf(servers)).toEqual([1, 1]));
  for (const session of sessions) await session.printed('line 2');
  return [...sessions];
}

/** How many sessions each server has that has some. */
async function countsOf(servers: SharedServers): Promise<number[]> {
  const owners = [...(await servers.owners()).values()].filter((owner) => owner !== null);
  return [...Map.groupBy(owners, (owner) => owner).values()].map((each) => each.length);
}

async function expectOnce(through: BelayServer, sessions: readonly Followed[]): Promise<void> {
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
    const { sessions } = servers.second.client;
    for (const { id } of await sessions.list()) await sessions.remove(id);
  });

  it('begin where the fewest are, are shared by its servers, and each of these shows all of them', async () => {
    const sessions: Followed[] = [];
    for (let number = 0; number < 4; number += 1) sessions.push(await count(servers.first));
    await eventually(async () => expect(await countsOf(servers)).toEqual([2, 2]));
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
    for (const through of [first, second]) {
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

  it('go on at the other one when their server is killed', async () => {
    const { first, second } = servers;
    const sessions = await oneAtEach(servers);
    await second.end('SIGKILL');
    await until('one server has all', async () => (await countsOf(servers)).length === 1);
    await expectOnce(first, sessions);
    await servers.startAgain(second);
  });

  itLong(
    'go on when the server that serves the clients is killed, also for those who asked another one',
    async () => {
      const { first, second } = servers;
      const [session, other] = await oneAtEach(servers);
      session.follow(second);
      await first.end('SIGKILL');
      for (const { id } of [session, other])
        await until('it serves', () => second.client.sessions.get(id).catch(() => false));
      other.follow(second);
      await expectOnce(second, [session, other]);
    },
  );
});
