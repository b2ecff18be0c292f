import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { labels } from '@belay/containers';
import { until } from '@belay/testing';
import { lease } from '../../storage/lease.js';
import type { LiveServer, LiveServers } from '../../storage/live-servers.js';
import type { FakeContainer } from '../../testing/fake-engine.js';
import { liveServer } from '../../testing/live-server.js';
import { SandboxServer } from '../../testing/sandbox-server.js';

/** Servers that share the engine and the database of this one. */
class PlayedServers {
  isShared = true;
  readonly #others: LiveServer[] = [];

  others = async () => [...this.#others];
  otherIds = async () => new Set(this.#others.map(({ id }) => id));

  join(id: string, more: Partial<LiveServer> = {}): void {
    this.#others.push(liveServer({ id, ...more }));
  }
  end(): void {
    this.#others.splice(0);
  }
}

let server: SandboxServer;
let servers: PlayedServers;
beforeEach(async () => {
  servers = new PlayedServers();
  server = new SandboxServer();
  server.servers = servers as unknown as LiveServers;
  await server.open();
});
afterEach(async () => {
  lease.hold();
  await server.close();
});

const containers = () => [...server.engine.containers.values()];
const volumes = () => [...server.engine.volumeNames];
const sandboxOf = (session: string) => server.sandboxes.ofSession(session);

/** The server works, and does not lead. */
function standBy(): void {
  lease.standBy();
  lease.renew(Infinity);
}

/** From now on, all that is there was made by another server. */
function isMadeBy(id: string, one: FakeContainer = server.engine.only()): void {
  one.spec.Labels = { ...one.spec.Labels, [labels.server]: id };
  for (const { Source, Type } of one.spec.HostConfig?.Mounts ?? [])
    if (Type === 'volume') server.engine.volumeLabelsOf.set(Source, { [labels.server]: id });
}
/** A session whose sandbox another server has, which is alive. */
async function elsewhere(session = 'one', more: Partial<LiveServer> = {}): Promise<void> {
  await server.startSession(session);
  isMadeBy('other');
  await server.stop();
  servers.join('other', more);
  await server.logs.log.handOver(session, 'other');
}
/** A container with files that no record names: a warm one, or one of a start that is under way. */
async function unnamed(server_: string): Promise<void> {
  const id = randomUUID();
  const volume = (Target: string) => ({
    Type: 'volume' as const,
    Source: `belay-${id}-${Target}`,
    Target: `/${Target}`,
    VolumeOptions: { Labels: { [labels.server]: server_ } },
  });
  const made = await server.engine.create({
    Labels: { [labels.sandbox]: id, [labels.server]: server_ },
    HostConfig: { Mounts: [volume('workspace'), volume('state')] as never },
  });
  await server.engine.start(made);
}
/** The server of a session has ended, and this one takes it. */
async function claim(session = 'one'): Promise<void> {
  servers.end();
  const { kysely } = server.logs.database;
  await kysely.updateTable('session').set({ owner: 'dead' }).where('id', '=', session).execute();
  await server.logs.log.claims.left();
}

describe.each([
  ['of a server that leads', true],
  ['of one that does not', false],
])('a check %s', (_, leads) => {
  const begin = async () => {
    if (!leads) standBy();
    await server.start();
    await server.reconciler.lookAgain();
  };

  it('leaves the sandbox, the record and the files of another one’s session', async () => {
    await elsewhere();
    const record = await server.records.find('one');
    await begin();
    expect(sandboxOf('one')).toBeUndefined();
    expect(containers()).toMatchObject([{ state: 'running' }]);
    expect(volumes()).toHaveLength(2);
    expect(await server.records.find('one')).toEqual(record);
    expect(server.lost).toEqual([]);
  });

  it('leaves what another one has ready or is about to start', async () => {
    await server.stop();
    servers.join('other');
    await unnamed('other');
    await begin();
    expect([containers().length, volumes().length]).toEqual([1, 2]);
  });

  it('leaves the record of a start that another one has not finished', async () => {
    await elsewhere();
    const record = (await server.records.find('one'))!;
    await server.records.write({ ...record, begun: false });
    await begin();
    expect(await server.records.find('one')).toMatchObject({ begun: false });
    expect([containers().length, volumes().length]).toEqual([1, 2]);
  });

  it('leaves the session of a server that has ended until it is claimed', async () => {
    await elsewhere();
    servers.end();
    await begin();
    expect(sandboxOf('one')).toBeUndefined();
    expect(containers()).toHaveLength(1);
    await claim();
    await server.reconciler.adopt('one');
    await until('it is adopted', () => server.service.state('one') === 'connected');
    await server.reconciler.lookAgain();
    expect([containers().length, server.lost]).toEqual([1, []]);
  });

  it('adopts the sandbox of a session that was claimed, once', async () => {
    await elsewhere();
    await begin();
    await claim();
    await Promise.all([
      server.reconciler.lookAgain(),
      server.reconciler.adopt('one'),
      server.reconciler.adopt('one'),
    ]);
    await until('it is adopted', () => server.service.state('one') === 'connected');
    expect(server.sandboxes.all()).toHaveLength(1);
  });
});

it('leaves the sandbox that another one has adopted from one that has ended', async () => {
  await elsewhere();
  isMadeBy('dead');
  await server.start();
  expect([containers().length, volumes().length]).toEqual([1, 2]);
});

it('removes what a server has left that has ended', async () => {
  await server.stop();
  servers.join('other');
  await unnamed('other');
  await server.start();
  servers.end();
  await server.reconciler.lookAgain();
  expect([containers(), volumes()]).toEqual([[], []]);
});

it('removes files of one that ended while a sandbox was starting, once none does', async () => {
  await server.stop();
  servers.join('other');
  await unnamed('other');
  const left = volumes();
  await server.start();
  server.agent.connects = false;
  const started = server.startSession('two').catch(() => undefined);
  await until('its container is there', () => containers().length === 2);
  servers.end();
  await server.reconciler.lookAgain();
  expect(volumes()).toEqual(expect.arrayContaining(left));
  await server.service.remove('two');
  await started;
  await until('they are removed', () => !volumes().some((name) => left.includes(name)));
});

it('leaves that to the server that leads, where it uses the same engine', async () => {
  await server.stop();
  servers.join('leading', { leads: true });
  await unnamed('dead');
  standBy();
  await server.start();
  expect([containers().length, volumes().length]).toEqual([1, 2]);
  servers.end();
  servers.join('leading', { leads: true, instance: 'another engine' });
  await server.reconciler.lookAgain();
  expect([containers(), volumes()]).toEqual([[], []]);
});

it('removes the container of a session that goes on at another engine, not its files', async () => {
  await elsewhere('one', { instance: 'another engine' });
  isMadeBy('dead');
  await server.start();
  expect([containers().length, volumes().length]).toEqual([0, 2]);
});

it('adopts when it begins to lead what it has left alone before', async () => {
  await elsewhere();
  standBy();
  await server.start();
  expect(sandboxOf('one')).toBeUndefined();
  lease.hold();
  await claim();
  await server.lead();
  await until('it is adopted', () => server.service.state('one') === 'connected');
});

/** Sessions with records of sandboxes that are gone. */
async function recorded(count: number): Promise<string[]> {
  const sessions = Array.from({ length: count }, (_, at) => `session-${at}`);
  for (const session of sessions) {
    await server.logs.session(session);
    const epoch = await server.logs.log.nextEpoch(session);
    const [sandbox, files] = [randomUUID(), randomUUID()];
    await server.records.write({ session, sandbox, files, epoch, begun: true });
  }
  return sessions;
}

it.each(['records', 'containers'])('looks for few %s at a time, of however many', async (what) => {
  const sessions = await recorded(12);
  let [looking, most, looks] = [0, 0, 0];
  const counted =
    <A, R>(look: (asked: A) => Promise<R>) =>
    async (asked: A) => {
      looking += 1;
      looks += 1;
      most = Math.max(most, looking);
      await setImmediate();
      looking -= 1;
      return look(asked);
    };
  if (what === 'records') server.records.find = counted(server.records.find.bind(server.records));
  else server.engine.list = counted(server.engine.list.bind(server.engine));
  await Promise.all(sessions.map((session) => server.reconciler.adopt(session)));
  expect(looks).toBe(12);
  expect(most).toBeLessThanOrEqual(4);
});

it.each(['storage', 'engine'])('looks for others while the %s does not answer', async (which) => {
  await elsewhere();
  await server.start();
  await claim();
  server.reconciler.lookTimeoutMs = 10;
  const [silent, answers] = [new Set(await recorded(5)), Promise.withResolvers<void>()];
  const asked: string[] = [];
  const hang = (what: string): Promise<void> => {
    asked.push(what);
    return answers.promise;
  };
  const find = server.records.find.bind(server.records);
  server.records.find = async (session) => {
    if (which === 'storage' && silent.has(session)) await hang(session);
    return find(session);
  };
  const list = server.engine.list.bind(server.engine);
  const known = server.engine.only().id;
  server.engine.list = async (wanted) => {
    const found = await list(wanted);
    if (which === 'engine' && !found.some(({ id }) => id === known)) await hang(wanted);
    return found;
  };
  // A busy machine may take longer than the limit to get there: until the look of each hangs, and once more.
  for (let hanging = -1; hanging < silent.size;) {
    hanging = asked.length;
    for (const look of [...silent].map((session) => server.reconciler.adopt(session)))
      await expect(look).rejects.toMatchObject({ code: 'unavailable' });
  }
  expect(asked).toHaveLength(silent.size);
  expect(new Set(asked).size).toBe(silent.size);
  // They have had their turn: waiting for them longer keeps nobody else waiting.
  server.reconciler.lookTimeoutMs = 600_000;
  const waiting = [...silent].map((session) => server.reconciler.adopt(session));
  await server.reconciler.adopt('one');
  await until('it is adopted', () => server.service.state('one') === 'connected');
  answers.resolve();
  await Promise.all(waiting);
});

it('looks for those on machines while its own host does not answer', async () => {
  const answers = Promise.withResolvers<void>();
  const silent = await recorded(5);
  server.engine.list = async () => {
    await answers.promise;
    return [];
  };
  const waiting = silent.map((session) => server.reconciler.adopt(session));
  await server.logs.session('far');
  const epoch = await server.logs.log.nextEpoch('far');
  const there = { sandbox: randomUUID(), files: randomUUID(), machine: 'big', token: 'secret' };
  await server.records.write({ ...there, session: 'far', epoch, begun: true });
  await server.reconciler.adopt('far');
  expect(server.service.placeOf('far')).toBe('big');
  answers.resolve();
  await Promise.all(waiting);
});

it('reports the session that was claimed of a container that has ended', async () => {
  await elsewhere();
  await server.start();
  server.engine.kill(server.engine.only());
  await claim();
  await server.reconciler.adopt('one');
  expect(server.lost).toEqual([['one', expect.stringMatching(/Its files are kept\.$/)]]);
  expect([containers(), volumes().length]).toEqual([[], 2]);
});

it('reports a container that has ended before it is removed, which may take long', async () => {
  await elsewhere();
  await server.start();
  server.engine.kill(server.engine.only());
  await claim();
  const [removes, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const remove = server.engine.remove.bind(server.engine);
  server.engine.remove = async (id) => {
    removes.resolve();
    await goesOn.promise;
    await remove(id);
  };
  const adopted = server.reconciler.adopt('one');
  await removes.promise;
  expect(server.lost).toEqual([['one', expect.stringMatching(/Its files are kept\.$/)]]);
  goesOn.resolve();
  await adopted;
  expect([containers(), volumes().length, server.lost.length]).toEqual([[], 2, 1]);
});

it.each(['running', 'exited'] as const)(
  'leaves a session that is started anew while its sandbox, which is %s, is looked for',
  async (state) => {
    await elsewhere();
    await server.start();
    await claim();
    if (state === 'exited') server.engine.kill(server.engine.only());
    const exit = server.engine.exit.bind(server.engine);
    const [asked, answers] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.engine.exit = async (id) => {
      asked.resolve();
      await answers.promise;
      return exit(id);
    };
    const adopted = server.reconciler.adopt('one');
    await asked.promise;
    await server.logs.log.nextEpoch('one');
    answers.resolve();
    await adopted;
    expect([sandboxOf('one'), server.lost]).toEqual([undefined, []]);
  },
);

it('does not adopt what the session has lost here', async () => {
  await server.startSession('one');
  const one = server.engine.only();
  server.engine.fail('remove');
  server.engine.kill(one);
  await until('it is lost', () => server.lost.length === 1);
  one.state = 'running';
  await server.reconciler.lookAgain();
  await until('it is removed', () => containers().length === 0);
  expect(sandboxOf('one')).toBeUndefined();
});
