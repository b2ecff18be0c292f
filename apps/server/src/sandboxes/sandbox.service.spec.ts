import { readFileSync } from 'node:fs';
import { ContainerHost, labels } from '@belay/containers';
import { AppError, newEvent, type SessionSummary } from '@belay/protocol';
import { itLong, sampled, until } from '@belay/testing';
import { engineAway } from '../testing/fake-engine.js';
import { SandboxServer } from '../testing/sandbox-server.js';

let server: SandboxServer;
beforeEach(async () => {
  server = await new SandboxServer().open();
});
afterEach(() => server.close());

const failure = (code: 'unavailable' | 'disk_full' = 'unavailable') =>
  new AppError(code, 'It fails here.');
/** What a start fails with, while other things happen. */
const failureOf = (start: Promise<void>): Promise<unknown> =>
  start.then(
    () => 'It succeeded.',
    (error: unknown) => error,
  );
const stateIs = (session: string, state: string) =>
  until(`${session} is ${state}`, () => server.service.state(session) === state);

/** Nothing of a session is left: no container, no volume, no record, no slot. */
const expectNothingLeft = async (session: string): Promise<void> => {
  expect(server.service.state(session)).toBe('none');
  expect([...server.engine.containers.keys()]).toEqual([]);
  expect([...server.engine.volumeNames]).toEqual([]);
  expect(await server.records.find(session)).toBeUndefined();
  expect(server.sandboxes.all()).toEqual([]);
};

describe('a start', () => {
  it('makes a container of the session’s name, unpacks the workspace, then begins', async () => {
    const create = server.engine.hold('create');
    const starting = server.startSession('one', 700);
    await create.reached;
    expect(server.service.state('one')).toBe('starting');
    create.release();
    await starting;
    expect(server.service.state('one')).toBe('connected');
    expect(server.engine.only()).toMatchObject({ name: 'belay-one', state: 'running' });
    expect(server.unpacked).toEqual([700]);
    expect(server.begun.map(({ session, epoch }) => [session, epoch])).toEqual([['one', 1]]);
    expect(await server.records.find('one')).toMatchObject({ begun: true, epoch: 1 });
    expect(server.service.counts).toMatchObject({ connected: 1, started: 1, failed: 0 });
    await expect(
      server.service.agent('one')?.call('operation.call', { id: 'x', operation: 'y', input: {} }),
    ).resolves.toEqual({ output: null });
  });

  it('has recorded its files as the session’s before its agent begins, and allows calls at once', async () => {
    const begun = Promise.withResolvers<unknown>();
    server.agent.begin = async () => {
      begun.resolve(await server.records.find('one'));
      jest.spyOn(server.records, 'write').mockReturnValue(new Promise(() => {}));
    };
    void server.startSession('one');
    expect(await begun.promise).toMatchObject({ begun: true });
    await until('others may call it', () => server.service.agent('one'));
  });

  it('is recorded once, when it has its files', async () => {
    const writes = jest.spyOn(server.records, 'write');
    const before: unknown[] = [];
    server.agent.unpack = async () => void before.push(await server.records.find('one'));
    await server.startSession('one', 700);
    expect(before).toEqual([undefined]);
    expect(writes).toHaveBeenCalledTimes(1);
  });

  it('gives the sandbox the names that its image has for it, and nothing else', async () => {
    server.engine.imageLabels = { [labels.hosts]: 'db cache.test a,b 1.2.3.4\tpypi.org /x' };
    await server.logs.session('one', { image: 'own/image' });
    await server.startSession('one');
    const [container] = [...server.engine.containers.values()];
    const hosts = container?.spec.HostConfig?.Mounts?.find(({ Target }) => Target === '/etc/hosts');
    const lines = readFileSync(String(hosts?.Source), 'utf8').trim().split('\n');
    expect(lines.slice(2)).toEqual(['127.0.0.1\tdb', '127.0.0.1\tcache.test']);
  });

  it.each(sampled(2, ['start', 'create', 'volumeLabels', 'imageLabel', 'cpus']))(
    'that fails in the engine at %s leaves nothing behind, and the next one succeeds',
    async (method) => {
      server.engine.fail(method, failure('disk_full'));
      await expect(server.startSession('one')).rejects.toMatchObject({ code: 'disk_full' });
      await expectNothingLeft('one');
      await server.startSession('one');
      expect(server.service.state('one')).toBe('connected');
      expect(server.service.counts).toMatchObject({ started: 1, failed: 1 });
    },
  );

  it('that fails while the workspace is unpacked leaves nothing behind', async () => {
    server.agent.unpack = () => Promise.reject(failure());
    await expect(server.startSession('one', 10)).rejects.toThrow();
    await expectNothingLeft('one');
  });

  it('that fails when the agent begins leaves nothing behind', async () => {
    server.agent.begin = () => Promise.reject(failure());
    await expect(server.startSession('one')).rejects.toThrow('It fails here.');
    await expectNothingLeft('one');
  });

  it.each(sampled(1, ['write', 'find']))(
    'that cannot %s its record frees its slot',
    async (method) => {
      jest.spyOn(server.records, method).mockRejectedValueOnce(failure());
      await expect(server.startSession('one')).rejects.toThrow('It fails here.');
      await expectNothingLeft('one');
    },
  );

  it('that fails keeps the files of an earlier sandbox', async () => {
    await server.startSession('one', 10);
    await server.service.stop('one');
    const volumes = [...server.engine.volumeNames];
    expect(volumes).toHaveLength(2);
    server.engine.fail('start');
    await expect(server.startSession('one', 10)).rejects.toThrow();
    expect([...server.engine.volumeNames]).toEqual(volumes);
    await server.startSession('one', 10);
    expect([...server.engine.volumeNames]).toEqual(volumes);
    expect(server.unpacked).toEqual([10]);
  });

  it('is refused beside another one of the session', async () => {
    const [first, second] = await Promise.allSettled([
      server.startSession('one'),
      server.startSession('one'),
    ]);
    expect([first.status, second.status].toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(server.engine.only().name).toBe('belay-one');
    await expect(server.startSession('one')).rejects.toMatchObject({ code: 'conflict' });
    expect(server.service.state('one')).toBe('connected');
  });

  it('of two sessions at once gives each its own', async () => {
    await Promise.all([server.startSession('one'), server.startSession('two')]);
    const names = [...server.engine.containers.values()].map(({ name }) => name);
    expect(names.toSorted()).toEqual(['belay-one', 'belay-two']);
    expect(server.engine.volumeNames.size).toBe(4);
  });

  it('waits while four others are being made', async () => {
    const sessions = ['a', 'b', 'c', 'd', 'e', 'f'];
    server.agent.connects = false;
    const starts = sessions.map((session) => server.startSession(session));
    const results = Promise.allSettled(starts);
    const begun = (count: number) =>
      until(`${count} have begun`, () => {
        const { calls } = server.engine;
        return calls.filter((call) => call === 'start').length === count;
      });
    await begun(4);
    // Whichever came first: their records are looked for at once.
    const [first] = server.engine.containers.values();
    await server.service.stop(first?.spec.Labels?.[labels.session] ?? '');
    await begun(5);
    expect(server.engine.containers.size).toBe(4);
    for (const session of sessions) await server.service.stop(session);
    await results;
    expect(server.engine.containers.size).toBe(0);
  });
});

describe('a stop', () => {
  it('while the sandbox is being started cancels the start', async () => {
    server.agent.connects = false;
    const start = failureOf(server.startSession('one'));
    await until('the container runs', () => server.engine.calls.includes('start'));
    await server.service.stop('one');
    await expectNothingLeft('one');
    expect(await start).toMatchObject({ code: 'cancelled' });
  });

  itLong('before the container runs cancels the start, too', async () => {
    const create = server.engine.hold('create');
    const start = failureOf(server.startSession('one'));
    await create.reached;
    const stop = server.service.stop('one');
    create.release();
    await stop;
    await expectNothingLeft('one');
    expect(await start).toMatchObject({ code: 'cancelled' });
    expect(server.engine.calls).not.toContain('start');
  });

  it('while the agent begins cancels the start', async () => {
    const begins = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    server.agent.begin = () => {
      begins.resolve();
      return begun.promise;
    };
    const start = failureOf(server.startSession('one'));
    await begins.promise;
    await server.service.stop('one');
    begun.resolve();
    await expectNothingLeft('one');
    expect(await start).toMatchObject({ code: 'cancelled' });
  });

  it('keeps the files, a removal deletes them', async () => {
    await server.startSession('one');
    await server.service.stop('one');
    expect(server.service.state('one')).toBe('none');
    expect(server.engine.containers.size).toBe(0);
    expect(server.engine.volumeNames.size).toBe(2);
    expect(server.lost).toEqual([]);
    await server.service.remove('one');
    await expectNothingLeft('one');
  });

  it('that the engine refuses keeps the sandbox', async () => {
    await server.startSession('one');
    server.agent.exits = false;
    server.engine.fail('remove');
    await expect(server.service.stop('one')).rejects.toThrow('Docker does not respond');
    expect(server.service.state('one')).toBe('connected');
    server.agent.exits = true;
    await server.service.stop('one');
    expect(server.service.state('one')).toBe('none');
    expect(server.engine.containers.size).toBe(0);
  });

  itLong('that the engine refuses after the agent exited can be repeated', async () => {
    await server.startSession('one');
    server.engine.fail('remove');
    await expect(server.service.stop('one')).rejects.toThrow('Docker does not respond');
    await server.service.stop('one');
    expect(server.service.state('one')).toBe('none');
    await until('its container is removed', () => server.engine.containers.size === 0);
    expect(server.engine.volumeNames.size).toBe(2);
  });
});

describe('a container that dies', () => {
  it('while it is started fails the start with the cause', async () => {
    server.agent.connects = false;
    const start = failureOf(server.startSession('one'));
    await until('the container runs', () => server.engine.calls.includes('start'));
    server.engine.kill(server.engine.only(), { outOfMemory: true });
    expect(await start).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/ran out of its \d+ MB/) as string,
    });
    await expectNothingLeft('one');
    expect(server.lost).toEqual([]);
  });

  it('while it is connected is reported once, and its files are kept', async () => {
    await server.startSession('one');
    server.engine.kill(server.engine.only(), { code: 3 });
    await until('the report', () => server.lost.length === 1);
    expect(server.lost[0]).toEqual([
      'one',
      'The agent ended unexpectedly with exit code 3. Its last line: the last line Its files are kept.',
    ]);
    expect(server.service.state('one')).toBe('none');
    await until('the removal', () => server.engine.containers.size === 0);
    expect(server.engine.volumeNames.size).toBe(2);
    await server.startSession('one');
    expect(server.service.state('one')).toBe('connected');
    expect(server.lost).toHaveLength(1);
  });

  it('is reported with what is left of its files where these end with it', async () => {
    const keeps = jest.spyOn(ContainerHost.prototype, 'keepsFiles', 'get').mockReturnValue(false);
    await server.startSession('one');
    server.engine.kill(server.engine.only());
    await until('the report', () => server.lost.length === 1);
    keeps.mockRestore();
    expect(server.lost[0]?.[1]).toMatch(/went with it, but for the copies of its steps/);
  });

  it('while it is ended is no loss', async () => {
    await server.startSession('one');
    const container = server.engine.only();
    const stop = server.service.stop('one');
    server.engine.kill(container);
    await stop;
    expect(server.service.state('one')).toBe('none');
    expect(server.lost).toEqual([]);
  });

  it('is found by the break of its connection when the engine reports nothing', async () => {
    await server.startSession('one');
    const container = server.engine.only();
    container.state = 'exited';
    container.exit = { code: 137, outOfMemory: false, error: '', memoryMb: 2048 };
    container.stop();
    await stateIs('one', 'lost');
    await until('the report', () => server.lost.length === 1);
    expect(server.lost[0]?.[1]).toContain('was killed (SIGKILL)');
  });
});

describe('an agent that cannot be reached', () => {
  it('is shown as the state of its session, until the sandbox is gone', async () => {
    const { log } = server.logs;
    await server.startSession('one');
    const args = { state: 'running' as const, reason: null };
    await log.append('one', [newEvent('server', 'state', { args, message: 'It runs.' })]);
    const shown: SessionSummary[] = [];
    log.subscribeAll((_session, _events, summary) => shown.push(summary));
    const container = server.engine.only();
    container.stop();
    await until('the state is shown', () => shown.length === 1);
    expect(shown[0]).toMatchObject({
      state: 'waiting',
      reason: 'Its sandbox cannot be reached. The session continues once it can.',
    });
    expect(await log.summary('one')).toEqual(shown[0]);
    expect(server.lost).toEqual([]);
    server.engine.kill(container);
    await until('the report', () => server.lost.length === 1);
    await until('the end of the absence', () => shown.length === 2);
    expect(shown[1]).toMatchObject({ state: 'running', reason: null });
  });

  it('is back when it has connected again', async () => {
    const { log } = server.logs;
    await server.logs.session('one');
    const args = { state: 'running' as const, reason: null };
    await log.append('one', [newEvent('server', 'state', { args, message: 'It runs.' })]);
    const sandbox = server.sandboxes.add({ session: 'one' });
    sandbox.adopt();
    const stateOf = async () => (await log.summary('one')).state;
    await until('the state is shown', async () => (await stateOf()) === 'waiting');
    sandbox.connected();
    expect(await stateOf()).toBe('running');
    server.sandboxes.remove(sandbox);
  });
});

describe('an engine that goes away', () => {
  it('leaves sandboxes connected; what died meanwhile is reported when it is back', async () => {
    await server.startSession('one');
    await server.startSession('two');
    server.engine.leave();
    const [first] = server.engine.containers.values();
    await expect(server.startSession('three')).rejects.toEqual(engineAway());
    expect(server.service.state('three')).toBe('none');
    server.engine.kill(first!);
    await stateIs('one', 'lost');
    server.engine.comeBack();
    await until('the report', () => server.lost.length === 1);
    expect(server.lost[0]?.[0]).toBe('one');
    expect(server.service.state('two')).toBe('connected');
    await server.startSession('three');
  });

  itLong('and comes back loses what a start that it broke off had made', async () => {
    server.agent.begin = () => {
      server.engine.leave();
      return Promise.reject(failure());
    };
    await expect(server.startSession('one')).rejects.toThrow('It fails here.');
    expect(server.service.state('one')).toBe('none');
    expect(server.engine.containers.size).toBe(1);
    server.engine.comeBack();
    await until('the removal', () => server.engine.containers.size === 0);
    await until('the volumes', () => server.engine.volumeNames.size === 0);
  });
});

describe('a warm sandbox', () => {
  beforeEach(async () => {
    await server.stop();
    await server.start({ BELAY_POOL: '1' });
    await until('one is warm', () => server.service.counts.warm === 1);
  });

  it('is claimed, named after its session, and replaced', async () => {
    const warm = server.engine.only();
    expect(warm.name).toMatch(/^belay-warm-/);
    await server.startSession('one');
    expect(server.service.state('one')).toBe('connected');
    await until('its name', () => warm.name === 'belay-one');
    expect(server.begun.map(({ session }) => session)).toEqual(['one']);
    await until('another one', () => server.service.counts.warm === 1);
    expect(server.engine.containers.size).toBe(2);
  });

  itLong('is claimed even when it cannot be renamed', async () => {
    server.engine.fail('rename');
    await server.startSession('one');
    expect(server.service.state('one')).toBe('connected');
  });

  it('is given to one of two sessions that start at once', async () => {
    const warm = server.engine.only();
    await Promise.all([server.startSession('one'), server.startSession('two')]);
    expect(server.sandboxes.ofSessions().map(({ state }) => state)).toEqual([
      'connected',
      'connected',
    ]);
    const claimed = warm.spec.Labels?.[labels.sandbox];
    expect(server.sandboxes.ofSessions().filter(({ id }) => id === claimed)).toHaveLength(1);
  });

  itLong('that dies is replaced, with its volumes', async () => {
    const warm = server.engine.only();
    server.engine.kill(warm);
    await until('another one', () => {
      const [found] = server.engine.containers.values();
      return found && found.id !== warm.id && server.service.counts.warm === 1;
    });
    expect(server.engine.volumeNames.size).toBe(2);
    expect(server.lost).toEqual([]);
  });

  itLong('that is claimed and fails is removed', async () => {
    server.agent.begin = () => Promise.reject(failure());
    const warm = server.engine.only();
    await expect(server.startSession('one')).rejects.toThrow('It fails here.');
    expect(server.service.state('one')).toBe('none');
    expect(server.engine.containers.has(warm.id)).toBe(false);
  });

  itLong('ends with the server', async () => {
    await server.stop();
    expect(server.engine.containers.size).toBe(0);
    expect(server.engine.volumeNames.size).toBe(0);
  });
});

it('says whose agent can be called from now on', async () => {
  const told: string[] = [];
  const end = server.service.onAgent((session) => {
    if (server.service.agent(session)) told.push(session);
  });
  await server.startSession('one');
  end();
  await server.startSession('two');
  expect(told).toEqual(['one']);
});

describe('a server that starts again', () => {
  it('adopts running containers, reports exited ones, and removes unused ones', async () => {
    await server.startSession('alive');
    await server.startSession('dead');
    const labels = { 'belay.sandbox': 'nobody' };
    await server.engine.start(await server.engine.create({ Labels: labels }));
    await server.engine.create({ Labels: { 'belay.sidecar': 'nobody' } });
    await server.stop();
    const [alive, dead] = [...server.engine.containers.values()];
    server.engine.kill(dead!);
    await server.start();
    await until('the agent is back', () => server.service.state('alive') === 'connected');
    expect(server.service.state('dead')).toBe('none');
    expect(server.lost.map(([session]) => session)).toEqual(['dead']);
    expect([...server.engine.containers.keys()]).toEqual([alive!.id]);
    // The container of a program that runs now is not the reconciler’s.
    server.dials.admit('program', () => {});
    const own = await server.engine.create({ Labels: { 'belay.sandbox': 'program' } });
    server.engine.leave();
    server.engine.comeBack();
    const calls = server.engine.calls.length;
    await until('a look', () => server.engine.calls.slice(calls).includes('list'));
    expect([...server.engine.containers.keys()]).toEqual([alive!.id, own]);
    expect(server.begun).toHaveLength(2);
    await server.service.stop('alive');
    await server.startSession('dead');
    expect(server.service.state('dead')).toBe('connected');
  });

  itLong('while the engine is away adopts them when it is back', async () => {
    await server.startSession('one');
    await server.stop();
    server.engine.leave();
    await server.start();
    expect(server.service.state('one')).toBe('none');
    server.engine.comeBack();
    await stateIs('one', 'connected');
    expect(server.lost).toEqual([]);
  });
});
