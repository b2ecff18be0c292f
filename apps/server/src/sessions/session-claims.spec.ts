import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { AppError, newEvent, sessionSettings, type NewEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { RestrictedSessions } from '../access/restricted-sessions.js';
import { SessionOwners } from '../access/session-owners.js';
import { WireGateway } from '../models/wire/wire-gateway.js';
import { Reconciler } from '../sandboxes/lifecycle/reconciler.js';
import { Database } from '../storage/database.js';
import { LiveServers, type LiveServer } from '../storage/live-servers.js';
import { ObjectStore } from '../storage/object-store.js';
import { serverId } from '../server-id.js';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { TestServer } from '../testing/server.js';
import { SandboxSlots } from './sandbox-slots.js';
import { SessionClaims } from './session-claims.js';
import { pauseEvent, startEvent } from './start-event.js';
import { StartQueue } from './start-queue.js';
import { Takeovers } from './takeovers.js';
import { WorkspaceStore } from './workspace.store.js';

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
  jest.spyOn(server.log.claims, 'left').mockResolvedValue([]);
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

it('knows who may see one as soon as it is of this server', async () => {
  await created('one');
  const row = { session: 'one', caller: 'token:a' };
  await server.app.get(Database).kysely.insertInto('session_owner').values(row).execute();
  await isGivenTo('one', serverId);
  await claims().takeHanded();
  expect(server.app.get(SessionOwners).of('token:a').has('one')).toBe(true);
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

const sendsFiles = () =>
  server.fetch('/api/sessions/one/workspace?bytes=2048', {
    method: 'PUT',
    body: tarOfFile('hello'),
    headers: { 'content-type': 'application/x-tar' },
  });
async function startsWithFiles(): Promise<void> {
  await server.reaches('one', 'running');
  expect(server.sandboxes.agents.get('one')?.files).toBe(tarOfFile('hello'));
}
/** The next session that is handed over is this server’s, and is not started until `goesOn`. */
async function isHeldUp(id = 'one') {
  const goesOn = Promise.withResolvers<void>();
  jest.spyOn(server.app.get(WireGateway), 'settleOpen').mockReturnValueOnce(goesOn.promise);
  const taken = claims().takeHanded();
  await until('it is owned', () => server.log.isOwned(id));
  return { taken, goesOn: goesOn.resolve };
}

it('lets the client of a session that is handed over send its files', async () => {
  await created('one', { workspace: 'upload' });
  await isGivenTo('one', serverId);
  await claims().takeHanded();
  expect((await sendsFiles()).status).toBe(204);
  await startsWithFiles();
});

it('lets it send them as soon as the session is of this server', async () => {
  await created('one', { workspace: 'upload' });
  await isGivenTo('one', serverId);
  const { taken, goesOn } = await isHeldUp();
  const sends = jest.spyOn(server.app.get(WorkspaceStore), 'send');
  const sent = sendsFiles();
  await until('it sends them', () => sends.mock.calls.length > 0);
  goesOn();
  await taken;
  expect((await sent).status).toBe(204);
  await startsWithFiles();
});

it('takes a session whose client sends files while the storage does not answer', async () => {
  await created('one', { workspace: 'upload' });
  await isGivenTo('one', serverId);
  const answers = Promise.withResolvers<undefined>();
  const objects = server.app.get(ObjectStore);
  jest.spyOn(objects, 'find').mockReturnValue(answers.promise);
  await claims().takeHanded();
  expect(server.log.isOwned('one')).toBe(true);
  answers.resolve(undefined);
});

it('does not start a session that is stopped while it is taken', async () => {
  await created('one');
  await isGivenTo('one', serverId);
  const takes = jest.spyOn(server.app.get(Takeovers), 'take');
  const adds = jest.spyOn(server.app.get(StartQueue), 'add');
  const { taken, goesOn } = await isHeldUp();
  await server.json('POST', '/api/sessions/one/stop');
  goesOn();
  await taken;
  await until('it is taken', () => takes.mock.results.length > 0);
  await takes.mock.results[0]?.value;
  expect(adds).not.toHaveBeenCalled();
  expect((await server.log.summary('one')).state).toBe('stopped');
});

it('starts the next one while another is held up', async () => {
  await created('one');
  await isGivenTo('one', serverId);
  const { goesOn } = await isHeldUp();
  await created('two');
  await isGivenTo('two', serverId);
  await server.reaches('two', 'running');
  expect((await server.log.summary('one')).state).toBe('starting');
  goesOn();
  await server.reaches('one', 'running');
});

it('starts the others beside one that cannot be read', async () => {
  for (const id of ['bad', 'good']) {
    await created(id);
    await isGivenTo(id, serverId);
  }
  const { kysely } = server.app.get(Database);
  await kysely.updateTable('session').set({ settings: '?' }).where('id', '=', 'bad').execute();
  await claims().takeHanded();
  await server.reaches('good', 'running');
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
  for (const id of [running, gone]) server.app.get(SandboxSlots).free(id);
  alive.add('other');
  await claims().takeLeft();
  looks.mockClear();
  await claims().takeLeft();
  expect(looks).not.toHaveBeenCalled();
  alive.clear();
  jest.mocked(server.log.claims.left).mockRestore();
  await claims().takeLeft();
  expect(looks).toHaveBeenCalledTimes(1);
  await server.reaches(gone, 'failed');
  // The sandbox of the third one is known.
  expect(adopts.mock.calls.flat().toSorted()).toEqual([gone, 'one'].toSorted());
  await server.reaches(running, 'running');
  // Rights depend on whose sign-in it has.
  expect(server.app.get(RestrictedSessions).userOf('one')).toBe('user');
});

it.each([
  ['works', 'running'],
  ['is stopped meanwhile', 'stopped'],
])(
  'looks again for a sandbox that could not be looked for, of a session that %s',
  async (_, state) => {
    const id = await server.session();
    await server.log.handOver(id, 'other');
    const agent = server.sandboxes.agents.get(id)!;
    server.sandboxes.agents.delete(id);
    server.app.get(SandboxSlots).free(id);
    await isGivenTo(id, serverId);
    const away = new AppError('unavailable', 'Docker does not respond.');
    const adopt = jest.spyOn(server.app.get(Reconciler), 'adopt').mockRejectedValue(away);
    const takes = jest.spyOn(server.app.get(Takeovers), 'take');
    const warns = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    await claims().takeHanded();
    await until('it is looked for', () => adopt.mock.calls.length > 2);
    expect(warns.mock.calls).toEqual([[away.message]]);
    if (state === 'stopped') await server.json('POST', `/api/sessions/${id}/stop`);
    adopt.mockImplementation(async () => void server.sandboxes.agents.set(id, agent));
    await takes.mock.results[0]?.value;
    expect((await server.log.summary(id)).state).toBe(state);
    expect(server.sandboxes.agents.has(id)).toBe(state === 'running');
    expect(server.app.get(SandboxSlots).has(id)).toBe(state === 'running');
  },
);

it('goes on with the others while the sandbox of one is looked for', async () => {
  const [slow, fast] = [await server.session(), await server.session()];
  const agent = server.sandboxes.agents.get(fast)!;
  for (const id of [slow, fast]) {
    await server.log.handOver(id, 'other');
    server.sandboxes.agents.delete(id);
    server.app.get(SandboxSlots).free(id);
  }
  const answers = Promise.withResolvers<void>();
  jest.spyOn(server.app.get(Reconciler), 'adopt').mockImplementation(async (id) => {
    if (id === slow) return answers.promise;
    server.sandboxes.agents.set(id, agent);
  });
  jest.mocked(server.log.claims.left).mockRestore();
  await claims().takeLeft();
  await until('the other one has its sandbox', () => server.app.get(SandboxSlots).has(fast));
  expect(server.app.get(SandboxSlots).has(slow)).toBe(false);
  answers.resolve();
  await server.reaches(slow, 'failed');
});

it.each(['none', 'starting'])(
  'leaves a session to a start that came before it was looked for, whose sandbox is %s',
  async (state) => {
    const id = await server.session();
    await server.json('POST', `/api/sessions/${id}/stop`);
    await until('it has ended', () => !server.app.get(SandboxSlots).has(id));
    await server.log.handOver(id, 'other');
    await isGivenTo(id, serverId);
    const takes = jest.spyOn(server.app.get(Takeovers), 'take');
    const adds = jest.spyOn(server.app.get(StartQueue), 'add');
    const fails = Promise.withResolvers<void>();
    const starts = jest.spyOn(server.sandboxes, 'start').mockReturnValueOnce(fails.promise);
    const { taken, goesOn } = await isHeldUp(id);
    await server.json('POST', `/api/sessions/${id}/restart`);
    await until('it starts', () => starts.mock.calls.length > 0);
    const states = jest.spyOn(server.sandboxes, 'state').mockReturnValue(state);
    goesOn();
    await taken;
    await until('it is taken', () => takes.mock.results.length > 0);
    await takes.mock.results[0]?.value;
    states.mockRestore();
    fails.reject(new AppError('unavailable', 'The engine is away.'));
    await server.reaches(id, 'failed');
    expect(adds).toHaveBeenCalledTimes(1);
  },
);

it('ends few at a time of the sandboxes of sessions that were stopped', async () => {
  const ids: string[] = [];
  for (let at = 0; at < 6; at += 1) ids.push(await server.session());
  const stop = newEvent('user', 'stop', { args: {}, message: 'Stopped.' });
  for (const id of ids) {
    await server.log.append(id, [stop]);
    await server.log.handOver(id, 'other');
    server.app.get(SandboxSlots).free(id);
  }
  const ends = server.sandboxes.stop.bind(server.sandboxes);
  let [running, most] = [0, 0];
  jest.spyOn(server.sandboxes, 'stop').mockImplementation(async (id) => {
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    await ends(id);
    running -= 1;
  });
  const takes = jest.spyOn(server.app.get(Takeovers), 'take');
  jest.mocked(server.log.claims.left).mockRestore();
  await claims().takeLeft();
  await until('they are taken', () => takes.mock.results.length > 0);
  await takes.mock.results[0]?.value;
  expect(server.sandboxes.stopped.toSorted()).toEqual(ids.toSorted());
  expect(most).toBeLessThanOrEqual(4);
});

it('looks at what one has left also after a look that failed, and after the first', async () => {
  const looks = jest.spyOn(Reconciler.prototype, 'lookAgain').mockResolvedValue();
  await server.restart();
  await claims().takeLeft();
  expect(looks).toHaveBeenCalled();
  alive.add('other');
  await claims().takeLeft();
  looks.mockClear();
  alive.clear();
  const claim = jest.spyOn(server.log.claims, 'left').mockRejectedValue(new Error('It is away.'));
  await expect(claims().takeLeft()).rejects.toThrow('It is away.');
  expect(looks).not.toHaveBeenCalled();
  claim.mockResolvedValue([]);
  await claims().takeLeft();
  expect(looks).toHaveBeenCalledTimes(1);
});

it.each([
  ['while it leads', () => claims().takeLeft()],
  ['as it begins to lead', () => server.restart()],
])(
  'starts what was left before its start, %s, and lets its client send its files',
  async (_, take) => {
    await created('one', { workspace: 'upload' });
    await created('two', {}, [pauseEvent()]);
    jest.mocked(server.log.claims.left).mockRestore();
    await take();
    expect((await sendsFiles()).status).toBe(204);
    await startsWithFiles();
    await until('it has started', () => server.sandboxes.agents.has('two'));
    expect((await server.log.summary('two')).state).toBe('paused');
  },
);

it.each(['starting', 'paused'])(
  'lets a client send its files anew when the server ended whose start had begun to take them, of a session that is %s',
  async (state) => {
    await created('one', { workspace: 'upload' }, state === 'paused' ? [pauseEvent()] : []);
    const { kysely } = server.app.get(Database);
    await kysely.updateTable('session').set({ epoch: 1 }).where('id', '=', 'one').execute();
    jest.mocked(server.log.claims.left).mockRestore();
    await claims().takeLeft();
    expect((await sendsFiles()).status).toBe(204);
    if (state === 'paused') await server.json('POST', '/api/sessions/one/resume');
    await startsWithFiles();
    expect(await server.log.epoch('one')).toBe(2);
  },
);

it.each([
  ['starts again', 'before its start', 'paused'],
  ['counts as lost', 'after its agent had worked', 'failed'],
])('a session %s that was paused %s', async (_, when, state) => {
  const id = await server.session();
  await server.sandboxes.says(server.log, id, { action: 'think', args: { thought: 'x' } });
  if (when === 'before its start') {
    await server.json('POST', `/api/sessions/${id}/stop`);
    await until('it has ended', () => !server.app.get(SandboxSlots).has(id));
    await server.log.append(id, (__, settings) => [startEvent(settings, true)]);
  }
  await server.json('POST', `/api/sessions/${id}/pause`);
  await server.log.handOver(id, 'other');
  server.sandboxes.agents.delete(id);
  server.app.get(SandboxSlots).free(id);
  const takes = jest.spyOn(server.app.get(Takeovers), 'take');
  jest.mocked(server.log.claims.left).mockRestore();
  await claims().takeLeft();
  await takes.mock.results[0]?.value;
  expect((await server.log.summary(id)).state).toBe(state);
  if (state === 'failed') return;
  await until('it has a sandbox', () => server.sandboxes.agents.has(id));
  await server.json('POST', `/api/sessions/${id}/resume`);
  await server.reaches(id, 'running');
});
