import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { DockerTasks, type TaskContainer, type TaskHost, type TaskSpec } from '@belay/containers';
import { prepared } from '@belay/testkit';
import { extract, pack } from 'tar-stream';

export interface OpenedTasks {
  host: TaskHost;
  close(): Promise<void>;
}

const never = new AbortController().signal;
const engine = new DockerTasks();

/** What evaluations need of a host of tasks. Its machine has the engine of the tests. */
export function describeTasks(title: string, open: () => Promise<OpenedTasks>): void {
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
      expect(await task.output()).toBe('givenhello\nlo\n');
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

    it('reads files of many megabytes whole', async () => {
      const task = await create('head -c 20000000 /dev/zero > /large');
      await task.run(60, never);
      const files = await filesIn(await task.archiveOf('/large'));
      expect(files['large']).toHaveLength(20_000_000);
      opened.host.discard(task);
    });

    it('ends a command that takes too long, and one that is cancelled', async () => {
      const slow = await create('sleep 1000');
      expect(await slow.run(0.2, never)).toMatchObject({ timedOut: true });
      opened.host.discard(slow);
      const cancelled = new AbortController();
      const other = await create('sleep 1000');
      const running = other.run(1_000, cancelled.signal);
      cancelled.abort(new Error('Not any more.'));
      await expect(running).rejects.toThrow('Not any more.');
      opened.host.discard(other);
    });

    describeServices(() => opened.host, create);
  });
}

type Create = (line: string, more?: Partial<TaskSpec>) => Promise<TaskContainer>;

function describeServices(host: () => TaskHost, create: Create): void {
  it('has services beside a task in its network, with commands in them', async () => {
    const holder = await create('sleep 1000', { entrypoint: null });
    await holder.start();
    const shared = { network: `container:${holder.id}` as const, hosts: ['db'] };
    const service = await create(
      'echo up; mkdir /www; echo page > /www/p; httpd -f -p 80 -h /www',
      {
        ...shared,
        healthcheck: {
          test: ['CMD', 'true'],
          interval: 0.1,
          timeout: 5,
          startPeriod: 0,
          retries: 3,
        },
      },
    );
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
    for (const one of [task, service, holder]) host().discard(one);
  });

  it('keeps the state of a container as an image', async () => {
    const first = await create('echo kept > /state');
    await first.run(60, never);
    const kept = await host().snapshot(first);
    const second = await create('cat /state', { image: kept });
    await second.run(60, never);
    expect(await second.output()).toBe('kept\n');
    for (const one of [first, second]) await one.remove();
    await host().forget(kept);
  });
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
