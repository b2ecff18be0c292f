import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { DockerTasks, type TaskContainer, type TaskHost, type TaskSpec } from '@belay/containers';
import { prepared } from '@belay/testkit';
import { extract, pack } from 'tar-stream';
import type { Further } from './host-tests.js';

export interface OpenedTasks {
  host: TaskHost;
  /** What a task sees of its network: `lo` where it has none. */
  interfaces?: string;
  close(): Promise<void>;
}

const never = new AbortController().signal;
const engine = new DockerTasks();

/**
 * What evaluations need of a host of tasks. Its machine has the engine of the tests. What is not for `npm test` is
 * `further`.
 */
export function describeTasks(
  title: string,
  open: () => Promise<OpenedTasks>,
  further: Further = it,
): void {
  describe(title, () => {
    const run = `t${process.pid}${Math.trunc(performance.now())}`;
    let opened: OpenedTasks;
    let release: () => void;
    const image = () => prepared('BELAY_TEST_BUSYBOX');
    beforeAll(async () => {
      opened = await open();
      await opened.host.sweep(run);
      release = opened.host.guard(run);
      const found = await engine.image(image());
      await opened.host.provide({ id: found?.id ?? '', name: image() }, engine, never);
    });
    afterAll(async () => {
      await opened.host.sweep(run);
      release();
      await opened.close();
    });
    const create = async (line: string, more: Partial<TaskSpec> = {}) =>
      opened.host.create({
        run,
        image: image(),
        command: ['sh', '-c', line],
        user: 'root',
        workdir: '/',
        env: { GREETING: 'hello' },
        cpus: 0.5,
        memoryMb: 64,
        network: 'none',
        archive: await archiveOf({ 'in/file': 'given' }),
        ...more,
      });

    it('runs a command with its files and variables, and reads what it left', async () => {
      const task = await create(
        'cat /in/file; echo $GREETING; mkdir /out; echo made > /out/a; rm /etc/passwd; ls /sys/class/net; exit 3',
      );
      expect(await task.run(60, never)).toEqual({ exitCode: 3, timedOut: false });
      expect(await task.output()).toBe(`givenhello\n${opened.interfaces ?? 'lo'}\n`);
      expect(await task.changes()).toEqual(
        expect.arrayContaining([
          { path: '/out/a', kind: 'added' },
          { path: '/etc/passwd', kind: 'removed' },
        ]),
      );
      expect(await filesIn(await task.archiveOf('/out'))).toEqual({ 'out/a': 'made\n' });
      expect(await task.archiveOf('/none')).toBeUndefined();
      await task.remove();
      await task.remove();
    });

    further('reads files of many megabytes whole', async () => {
      const task = await create('head -c 20000000 /dev/zero > /large');
      await task.run(60, never);
      const files = await filesIn(await task.archiveOf('/large'));
      expect(files['large']).toHaveLength(20_000_000);
      opened.host.discard(task);
    });

    it('ends a command that takes too long, and one that is cancelled', () =>
      expectEnds(opened.host, create));

    further('runs a command as a user of the image, who owns what it makes', () =>
      expectUser(opened.host, create),
    );

    further('reads what was there before a command runs', async () => {
      const task = await create('true');
      expect(await filesIn(await task.archiveOf('/in'))).toEqual({ 'in/file': 'given' });
      opened.host.discard(task);
    });

    it('keeps the state of a container as an image', () => expectSnapshots(opened.host, create));

    it('has services beside a task, or says that it has none', async () => {
      const { lacks } = await opened.host.capacity();
      if (!lacks.includes('services')) return expectServices(opened.host, create);
      const joined = create('true', { network: `container:${'a'.repeat(64)}` });
      await expect(joined).rejects.toThrow('neither a network nor services');
    });
  });
}

type Create = (line: string, more?: Partial<TaskSpec>) => Promise<TaskContainer>;

async function expectEnds(host: TaskHost, create: Create): Promise<void> {
  const slow = await create('sleep 1000');
  expect(await slow.run(0.2, never)).toMatchObject({ timedOut: true });
  host.discard(slow);
  const cancelled = new AbortController();
  const other = await create('sleep 1000');
  const running = other.run(1_000, cancelled.signal);
  cancelled.abort(new Error('Not any more.'));
  await expect(running).rejects.toThrow('Not any more.');
  host.discard(other);
}

async function expectUser(host: TaskHost, create: Create): Promise<void> {
  const line =
    'id -u; id -g; echo $HOME; touch /tmp/own; kill -9 1 2>/dev/null; sleep 1000 & exit 7';
  const passwd = 'root:x:0:0::/root:/bin/sh\nagent:x:1234:1235::/home/agent:/bin/sh\n';
  const archive = await archiveOf({ 'etc/passwd': passwd });
  const task = await create(line, { user: 'agent', archive });
  expect(await task.run(60, never)).toEqual({ exitCode: 7, timedOut: false });
  expect(await task.output()).toBe('1234\n1235\n/home/agent\n');
  expect(await task.changes()).toEqual(
    expect.arrayContaining([{ path: '/tmp/own', kind: 'added' }]),
  );
  host.discard(task);
}

async function expectSnapshots(host: TaskHost, create: Create): Promise<void> {
  const first = await create('echo kept > /state; rm /etc/group; mkdir -p /deep/er');
  await first.run(60, never);
  const kept = await host.snapshot(first);
  await first.remove();
  const second = await create(
    'cat /state; ls -d /deep/er; ls /etc/group 2>/dev/null; echo new > /deep/a',
    {
      image: kept,
    },
  );
  await second.run(60, never);
  expect(await second.output()).toContain('kept\n/deep/er\n');
  const changes = await second.changes();
  expect(changes).toEqual(expect.arrayContaining([{ path: '/deep/a', kind: 'added' }]));
  expect(changes.map(({ path }) => path)).not.toContain('/state');
  const later = await host.snapshot(second);
  const third = await create('cat /state /deep/a; test -e /etc/group', { image: later });
  expect(await third.run(60, never)).toMatchObject({ exitCode: 1 });
  expect(await third.output()).toBe('kept\nnew\n');
  for (const one of [second, third]) await one.remove();
  for (const one of [later, kept]) await host.forget(one);
}

async function expectServices(host: TaskHost, create: Create): Promise<void> {
  const holder = await create('sleep 1000', { entrypoint: null });
  await holder.start();
  const shared = { network: `container:${holder.id}` as const, hosts: ['db'] };
  const service = await create('echo up; mkdir /www; echo page > /www/p; httpd -f -p 80 -h /www', {
    ...shared,
    healthcheck: {
      test: ['CMD', 'true'],
      interval: 0.1,
      timeout: 5,
      startPeriod: 0,
      retries: 3,
    },
  });
  await service.start();
  let state = await service.state();
  while (state.health === 'starting') state = await service.state();
  expect(state).toMatchObject({ running: true, health: 'healthy' });
  expect(await service.tail(5)).toBe('up\n');
  const used = await service.exec(['sh', '-c', 'cat /www/p; exit 4'], {
    user: null,
    seconds: 20,
    signal: never,
  });
  expect(used).toEqual({ exitCode: 4, timedOut: false, output: 'page\n' });
  const task = await create('wget -qO- http://127.0.0.1/p', shared);
  await task.run(60, never);
  expect(await task.output()).toBe('page\n');
  for (const one of [task, service, holder]) host.discard(one);
}

async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content);
  tar.finalize();
  return buffer(tar);
}

async function filesIn(archive: Readable | undefined) {
  const files: Record<string, string> = {};
  const reading = extract();
  reading.on('entry', ({ name, type }, content, taken) => {
    const read = text(content as unknown as Readable).then((content_) => {
      if (type === 'file') files[name] = content_;
    });
    read.then(() => taken(), taken);
  });
  if (archive) await pipeline(archive, reading);
  return files;
}
