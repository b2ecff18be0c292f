import { Readable } from 'node:stream';
import { AppError, sessionSettings, type ApiName } from '@belay/protocol';
import { until } from '@belay/testing';
import { ownerCaller } from '../access/caller.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { ColdChanges } from '../storage/cold-changes.js';
import { LiveServers, type LiveServer } from '../storage/live-servers.js';
import { serverId } from '../server-id.js';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { joinMachine, runOnMachines } from '../testing/joined-machine.js';
import { liveServer } from '../testing/live-server.js';
import { TestServer } from '../testing/server.js';
import { SandboxSlots } from './sandbox-slots.js';
import { SessionPlaces } from './session-places.js';
import { SessionPlacement, type Placed } from './session-placement.js';
import { startEvent } from './start-event.js';
import { StartQueue } from './start-queue.js';
import { WorkspaceStore } from './workspace.store.js';

const server = new TestServer();
let others: LiveServer[] = [];
const told: string[] = [];
beforeAll(async () => {
  const servers: Pick<LiveServers, 'isShared' | 'others' | 'otherIds' | 'sharesEngine'> = {
    isShared: true,
    others: async () => others,
    otherIds: async () => new Set(others.map(({ id }) => id)),
    sharesEngine: ({ instance }) => instance === 'here',
  };
  await server.replace(LiveServers, servers as LiveServers).start();
  jest.spyOn(server.log.claims, 'left').mockResolvedValue([]);
  jest
    .spyOn(server.app.get(ColdChanges), 'tell')
    .mockImplementation(async (_, id) => void told.push(id));
});
beforeEach(() => {
  others = [liveServer({ id: 'other', instance: 'here' })];
  told.splice(0);
});
afterEach(async () => {
  for (const { id } of await server.log.summaries())
    await server.app.get(SessionsStore).ownerOf(id);
  await server.forgetSessions();
});
afterAll(() => server.close());

const agent = {
  name: 'claude',
  version: '1.0.0',
  protocol: 'terminal',
  login: 'u',
};

let count = 0;
/** The id of the server at which a new session begins. */
async function owner(more: object = {}, placed: Partial<Placed> & { api?: ApiName } = {}) {
  count += 1;
  const id = `session-${count}`;
  const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:x', ...more });
  await server.log.create(id, settings, { events: [startEvent(settings, false)] });
  const { api = 'rest', ...rest } = placed;
  const caller = { ...ownerCaller, via: { api, address: '::1' } };
  const usual = { caller, sendsWorkspace: false, stays: false };
  await server.app.get(SessionPlacement).begin(id, { ...usual, ...rest });
  return server.app.get(SessionsStore).ownerOf(id);
}

it('is the one that has the fewest, and of those another one than the one that serves clients', async () => {
  others = ['a', 'b'].map((id) => liveServer({ id, instance: 'here' }));
  const owners: unknown[] = [];
  for (let at = 0; at < 6; at += 1) owners.push(await owner());
  expect(owners).toEqual(['a', 'b', serverId, 'a', 'b', serverId]);
  expect(told).toEqual(['a', 'b', 'a', 'b']);
});

it('is each in turn for sessions that begin at once', async () => {
  others = ['c', 'd'].map((id) => liveServer({ id, instance: 'here' }));
  const owners = await Promise.all(Array.from({ length: 9 }, () => owner()));
  const ofEach = ['c', 'd', serverId].map((id) => owners.filter((one) => one === id).length);
  expect(ofEach).toEqual([3, 3, 3]);
});

it('is chosen while the storage does not answer for another session', async () => {
  const answers = Promise.withResolvers<null>();
  const finds = jest.spyOn(server.sandboxes, 'filesAt').mockReturnValueOnce(answers.promise);
  const waits = owner();
  await until('it waits', () => finds.mock.calls.length > 0);
  expect(await owner()).toBe('other');
  answers.resolve(null);
  expect(await waits).toBe(serverId);
});

const here = { instance: 'here' };
it.each<
  [string, { servers?: LiveServer[]; settings?: object; placed?: Parameters<typeof owner>[1] }]
>([
  ['no other one is alive', { servers: [] }],
  ['another one has other sandboxes', { servers: [liveServer()] }],
  ['another one is full', { servers: [liveServer({ ...here, sandboxes: 1 })] }],
  ['its client follows it here', { placed: { api: 'mcp' } }],
  [
    'no other one knows its client',
    { placed: { caller: { ...ownerCaller, via: { api: 'cli', address: '::1' }, isLocal: true } } },
  ],
  ['this server follows its work', { placed: { stays: true } }],
  ['it is of a machine', { settings: { machine: { name: 'big', kind: 'container' } } }],
  ['its user signs in to its agent', { settings: { agent } }],
])('is this one when %s', async (_, { servers = others, settings, placed }) => {
  others = servers;
  expect(await owner(settings, placed)).toBe(serverId);
  expect(told).toEqual([]);
});

it('is this one when the others cannot be looked at', async () => {
  jest
    .spyOn(server.app.get(SessionsStore), 'ownedByServer')
    .mockRejectedValueOnce(new Error('Connection terminated unexpectedly'));
  expect(await owner()).toBe(serverId);
  await server.reaches(`session-${count}`, 'running');
});

it.each([
  ['stopped', 'POST', '/stop'],
  ['deleted', 'DELETE', ''],
])('starts nothing for a session that is %s meanwhile', async (_, method, path) => {
  const id = `session-${count + 1}`;
  const ends = async () => {
    await server.json(method, `/api/sessions/${id}${path}`);
    throw new Error('It begins here.');
  };
  jest.spyOn(server.app.get(SessionsStore), 'ownedByServer').mockImplementationOnce(ends);
  const before = server.sandboxes.starts.length;
  await owner({ workspace: 'upload' }, { sendsWorkspace: true });
  const sent = server.app.get(WorkspaceStore).send(id, Readable.from([tarOfFile('hello')]));
  await expect(sent).rejects.toThrow(AppError);
  expect(server.sandboxes.starts).toHaveLength(before);
  expect(server.app.get(SandboxSlots).has(id)).toBe(false);
});

it.each(['no other one', 'another one'])(
  'is this one, once, for a session that was restarted here while %s was chosen',
  async (which) => {
    const id = `session-${count + 1}`;
    const restarts = async () => {
      await server.json('POST', `/api/sessions/${id}/stop`);
      await server.json('POST', `/api/sessions/${id}/restart`);
      await server.reaches(id, 'running');
      return new Map(which === 'another one' ? [] : [['other', Infinity]]);
    };
    jest.spyOn(server.app.get(SessionsStore), 'ownedByServer').mockImplementationOnce(restarts);
    const adds = jest.spyOn(server.app.get(StartQueue), 'add');
    expect(await owner()).toBe(serverId);
    expect(adds.mock.calls).toEqual([[id]]);
    expect(told).toEqual([]);
    adds.mockRestore();
  },
);

it('is this one, once, for a session whose restart here is under way', async () => {
  const id = `session-${count + 1}`;
  const goesOn = Promise.withResolvers<void>();
  const settles = jest
    .spyOn(server.app.get(SessionPlaces), 'settle')
    .mockReturnValueOnce(goesOn.promise);
  const restarts = async () => {
    await server.json('POST', `/api/sessions/${id}/stop`);
    await server.json('POST', `/api/sessions/${id}/restart`);
    await until('it starts', () => settles.mock.calls.length > 0);
    return new Map([['other', Infinity]]);
  };
  jest.spyOn(server.app.get(SessionsStore), 'ownedByServer').mockImplementationOnce(restarts);
  const before = server.sandboxes.starts.length;
  expect(await owner()).toBe(serverId);
  goesOn.resolve();
  await server.reaches(id, 'running');
  // A second start would come after this.
  await server.app.get(SandboxSlots).inOrder(id, async () => {});
  expect(server.sandboxes.starts).toHaveLength(before + 1);
  expect(server.sandboxes.stopped).not.toContain(id);
});

it('is this one while the machine is full that alone fits', async () => {
  runOnMachines(server);
  const labels = { gpu: 'yes' };
  const { close } = await joinMachine(server, 'gpu', { labels, sandboxes: 1 });
  await server.session({ labels });
  expect(await owner({ labels })).toBe(serverId);
  expect(told).toEqual([]);
  await close();
});
