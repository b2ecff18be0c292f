import { sessionSettings, type NewEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { RestrictedSessions } from '../access/restricted-sessions.js';
import { Reconciler } from '../sandboxes/lifecycle/reconciler.js';
import { Database } from '../storage/database.js';
import { LiveServers, type LiveServer } from '../storage/live-servers.js';
import { serverId } from '../server-id.js';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { TestServer } from '../testing/server.js';
import { SessionClaims } from './session-claims.js';
import { pauseEvent, startEvent } from './start-event.js';

const server = new TestServer();
const alive = new Set<string>();
beforeAll(() => {
  const servers: Pick<LiveServers, 'isShared' | 'others' | 'otherIds'> = {
    isShared: true,
    others: async () => [...alive].map((id) => ({ id }) as LiveServer),
    otherIds: async () => new Set(alive),
  };
  return server.replace(LiveServers, servers as LiveServers).start();
});
beforeEach(() => {
  alive.clear();
  // With SQLite, all other servers count as ended.
  jest.spyOn(server.log, 'claimLeft').mockResolvedValue([]);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await server.forgetSessions();
});
afterAll(() => server.close());

const claims = () => server.app.get(SessionClaims);
/** A session that another server has created, before its start. */
async function created(id: string, more: object = {}, later: NewEvent[] = []): Promise<void> {
  const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:x', ...more });
  const events = [startEvent(settings, false), ...later];
  await server.log.create(id, settings, { events });
  await server.log.handOver(id, 'other');
}
/** As that server does. */
const isGivenTo = (id: string, owner: string) =>
  server.app
    .get(Database)
    .kysely.updateTable('session')
    .set({ owner })
    .where('id', '=', id)
    .execute();

it('starts a session that is handed over to it, at once when it is told', async () => {
  await created('one');
  expect(server.log.isOwned('one')).toBe(false);
  await isGivenTo('one', serverId);
  await claims().takeHanded();
  expect(server.log.isOwned('one')).toBe(true);
  await server.reaches('one', 'running');
  expect(server.sandboxes.starts.map(({ session }) => session)).toEqual(['one']);
});

it('notices by itself what is handed over to it', async () => {
  await created('one');
  await isGivenTo('one', serverId);
  await server.reaches('one', 'running');
});

it('starts one that was paused before its start', async () => {
  await created('one', {}, [pauseEvent()]);
  await isGivenTo('one', serverId);
  await claims().takeHanded();
  await until('it has started', () => server.sandboxes.agents.has('one'));
  expect((await server.log.summary('one')).state).toBe('paused');
});

it('lets the client of a session that is handed over send its files', async () => {
  await created('one', { workspace: 'upload' });
  await isGivenTo('one', serverId);
  await claims().takeHanded();
  const headers = { 'content-type': 'application/x-tar' };
  const sent = await server.fetch('/api/sessions/one/workspace?bytes=2048', {
    method: 'PUT',
    body: tarOfFile('hello'),
    headers,
  });
  expect(sent.status).toBe(204);
  await server.reaches('one', 'running');
  expect(server.sandboxes.agents.get('one')?.files).toBe(tarOfFile('hello'));
});

it('does not start a session anew that is claimed again', async () => {
  const id = await server.session();
  await server.log.handOver(id, 'other');
  await isGivenTo(id, serverId);
  await claims().takeHanded();
  expect([server.log.isOwned(id), server.sandboxes.starts.length]).toEqual([true, 1]);
});

it('takes over the sessions of a server that has ended, and looks at what else it left', async () => {
  const looks = jest.spyOn(server.app.get(Reconciler), 'lookAgain').mockResolvedValue();
  const adopts = jest.spyOn(server.app.get(Reconciler), 'adopt').mockResolvedValue();
  const [running, gone] = [await server.session(), await server.session()];
  for (const id of [running, gone]) await server.log.handOver(id, 'other');
  const agent = { name: 'codex', version: '', protocol: 'acp', login: 'user' };
  await created('one', { agent });
  server.sandboxes.agents.delete(gone);
  alive.add('other');
  await claims().takeLeft();
  expect(looks).not.toHaveBeenCalled();
  alive.clear();
  jest.mocked(server.log.claimLeft).mockRestore();
  await claims().takeLeft();
  expect(looks).toHaveBeenCalledTimes(1);
  expect(adopts.mock.calls.flat().toSorted()).toEqual([gone, 'one', running].toSorted());
  await server.reaches(gone, 'failed');
  await server.reaches(running, 'running');
  // Rights depend on whose sign-in it has.
  expect(server.app.get(RestrictedSessions).userOf('one')).toBe('user');
});
