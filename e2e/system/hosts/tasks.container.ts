import { DockerTasks } from '@belay/containers';
import { docker, prepared } from '@belay/testkit';
import { itLong, until } from '@belay/testing';
import { describeTasks } from './describe-tasks.js';
import { tasksOnLoopback } from './tasks-on-loopback.js';

const prefix = `tasks${process.pid}-`;

describeTasks('a joined machine as a host of tasks', () => tasksOnLoopback(prefix), itLong);

it('ends what an evaluation has begun with its connection, and says that it is away', async () => {
  const { host, close } = await tasksOnLoopback(prefix);
  const engine = new DockerTasks();
  const image = prepared('BELAY_TEST_BUSYBOX');
  const signal = new AbortController().signal;
  host.guard('ended');
  await host.provide({ id: (await engine.image(image))?.id ?? '', name: image }, engine, signal);
  const task = await host.create({
    run: 'ended',
    image,
    command: ['sleep', '1000'],
    user: null,
    workdir: null,
    env: {},
    cpus: 0.5,
    memoryMb: 64,
    network: 'none',
    archive: Buffer.alloc(1024),
  });
  const running = task.run(1_000, signal);
  const filters = { label: [`belay.evaluation=${prefix}ended`] };
  await until('it runs', async () => (await docker.listContainers({ filters })).length === 1);
  await host.close();
  await expect(running).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The machine lost its connection.',
  });
  await until(
    'nothing is left',
    async () => (await docker.listContainers({ all: true, filters })).length === 0,
  );
  await close();
});
