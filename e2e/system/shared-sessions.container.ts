import { isEvent, type Event } from '@belay/protocol';
import { until } from '@belay/testing';
import { idle, run, script, SharedServers, start, type Followed } from '@belay/testkit';
import { counting, expectCountedOnce } from './counting.js';

const isAsked = (event: Event): boolean => isEvent(event, 'approval');

const lines = 40;

describe('the sessions of a database', () => {
  let servers: SharedServers;
  beforeEach(async () => {
    servers = new SharedServers();
    await servers.start(2);
  });
  afterEach(() => servers.dispose());

  /** Two sessions, one at each server; all that is asked about both goes to the first. */
  async function oneAtEach(): Promise<Followed[]> {
    const model = () =>
      script(servers.first.data, [{ calls: [counting(lines)] }, { finish: 'done' }]);
    const begun = async () => start(servers.first, { task: 'Count', model: model() });
    const sessions = [await begun(), await begun()];
    const owners = await servers.owners();
    expect(new Set(sessions.map(({ id }) => owners.get(id))).size).toBe(2);
    return sessions;
  }
  const expectOnce = (session: Followed) => expectCountedOnce(session, lines);

  it('are shared by its servers, and each of these shows all of them', async () => {
    const sessions = await oneAtEach();
    await Promise.all(sessions.map(expectOnce));
    for (const server of servers.all)
      expect((await server.client.sessions.list()).map(({ state }) => state)).toEqual([
        'finished',
        'finished',
      ]);
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

  it('go on at the other one when their server is killed', async () => {
    const sessions = await oneAtEach();
    for (const session of sessions) await session.printed('line 5');
    await servers.second.end('SIGKILL');
    await Promise.all(sessions.map(expectOnce));
    await until('one server has all', async () => {
      const owners = new Set((await servers.owners()).values());
      owners.delete(null);
      return owners.size <= 1;
    });
  });

  it('go on when the server that serves the clients is killed', async () => {
    const sessions = await oneAtEach();
    for (const session of sessions) await session.printed('line 5');
    await servers.first.end('SIGKILL');
    const { second } = servers;
    for (const { id } of sessions)
      await until('it serves', () => second.client.sessions.get(id).catch(() => false));
    for (const session of sessions) session.follow(second);
    await Promise.all(sessions.map(expectOnce));
  });

  it('begin where the fewest are', async () => {
    const waiting: Followed[] = [];
    for (let count = 0; count < 4; count += 1) waiting.push(await idle(servers.first));
    const owners = [...(await servers.owners()).values()];
    const counts = Map.groupBy(owners, (owner) => owner);
    expect([...counts.values()].map((each) => each.length)).toEqual([2, 2]);
    for (const session of waiting) session.close();
  });
});
