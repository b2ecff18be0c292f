import { DockerTasks, type ProgramTasks } from '@belay/containers';
import { prepared, TestCluster } from '@belay/testkit';
import { describeTasks } from '../system/hosts/describe-tasks.js';
import { never } from '../system/hosts/host-user.js';
import { openPodHost } from './pod-host.js';

describeTasks('pods as a host of tasks', async () => {
  const cluster = await TestCluster.open();
  const host = await openPodHost(cluster);
  return {
    host: host.tasks({ cpus: 4, memoryMb: 2048 }),
    interfaces: 'eth0\nlo',
    close: async () => {
      await host.close();
      await cluster.remove();
    },
  };
});

describe('pods of tasks', () => {
  let cluster: TestCluster;
  let host: Awaited<ReturnType<typeof openPodHost>>;
  let tasks: ProgramTasks;
  beforeAll(async () => {
    cluster = await TestCluster.open();
    host = await openPodHost(cluster);
    tasks = host.tasks({ cpus: 1, memoryMb: 256 });
  });
  afterAll(async () => {
    await host.close();
    await cluster.remove();
  });

  it('cannot begin with an image that the nodes lack, with a reason', async () => {
    const image = { id: `sha256:${'a'.repeat(64)}`, name: 'belay/none:1' };
    await expect(tasks.provide(image, new DockerTasks(), never)).rejects.toThrow(
      /^Kubernetes cannot pull the image .*belay\/none:1: .* Images of tasks are not sent to Kubernetes/,
    );
  });

  it('attack: root of one has no verdict if it ends the program that judges it, and is cut off', async () => {
    const task = await tasks.create({
      run: 'attack',
      image: prepared('BELAY_TEST_BUSYBOX'),
      command: [
        'sh',
        '-c',
        'nc -w 2 $KUBERNETES_SERVICE_HOST 443 </dev/null && echo open; kill -9 -1; sleep 1000',
      ],
      user: 'root',
      workdir: '/',
      env: {},
      cpus: 0.5,
      memoryMb: 64,
      network: 'none',
      archive: Buffer.alloc(1024),
    });
    await expect(task.run(120, never)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await task.output()).not.toContain('open');
    expect(await tasks.sweep('attack')).toBe(1);
    const { items } = await cluster.core.listNamespacedPod({ namespace: cluster.namespace });
    expect(items).toEqual([]);
  });
});
