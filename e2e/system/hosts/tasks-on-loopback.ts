import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DockerTasks, RemoteTasks, ServedTasks } from '@belay/containers';
import { taskCalls } from '@belay/protocol';
import { dialRpc, rpcServer, type RpcConnection } from '@belay/rpc';
import { prepared } from '@belay/testkit';
import type { OpenedTasks } from './describe-tasks.js';

export interface TasksOnLoopback extends OpenedTasks {
  host: RemoteTasks;
  /** The machine’s end of the connection. */
  machine: RpcConnection<typeof taskCalls, Record<never, never>>;
}

/** Tasks on a machine as an evaluation sees them, over a connection on loopback. */
export async function tasksOnLoopback(prefix: string): Promise<TasksOnLoopback> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<RemoteTasks>();
  const evaluations = rpcServer({
    server,
    serves: {},
    calls: taskCalls,
    onConnection: (connection) => resolve(new RemoteTasks({ name: 'The machine', connection })),
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const machine = dialRpc({
    address: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serves: taskCalls,
    calls: {},
  });
  const served = new ServedTasks({
    host: new DockerTasks(prepared('DOCKER_HOST')),
    prefix,
    image: 'belay/none:1',
    allowedImages: ['belay/evaluation-*'],
    limits: { memoryMb: 128, cpus: 1 },
  });
  served.serve(machine);
  const host = await promise;
  const close = async () => {
    await host.close();
    await served.close();
    await machine.close();
    evaluations.close();
    server.close();
  };
  return { host, machine, close };
}
