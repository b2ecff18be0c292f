import { existsSync, readFileSync } from 'node:fs';
import { prepared } from '@belay/testkit';
import { containerOf, docker, idleSession, withServer } from './platform.ts';
import type { Row } from '../bench-table.ts';

export const title = 'memory of an idle agent (its cgroup)';

/** The floor is an idle Node in the same image and from the same volume. */
export async function measure(): Promise<Row[]> {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    const container = await containerOf(session.id);
    const bare = await bareNode();
    try {
      // An agent is idle after ten seconds without an event.
      await new Promise((done) => setTimeout(done, 12_000));
      const { anonymous, total } = memoryOf(container.id);
      const floor = memoryOf(bare.id);
      session.close();
      return [
        {
          what: 'private memory',
          figure: anonymous / 2 ** 20,
          unit: 'MB',
          target: 25,
          floor: floor.anonymous / 2 ** 20,
        },
        {
          what: 'with shared pages and cache',
          figure: total / 2 ** 20,
          unit: 'MB',
          target: null,
          floor: floor.total / 2 ** 20,
        },
      ];
    } finally {
      await bare.remove({ force: true });
    }
  });
}

async function bareNode() {
  const container = await docker.createContainer({
    Image: prepared('BELAY_TEST_IMAGE'),
    Entrypoint: ['/opt/belay/node'],
    Cmd: ['-e', 'setInterval(() => {}, 1e9)'],
    User: '1000:1000',
    Labels: { 'belay.bench': 'bare-node' },
    HostConfig: { Binds: [`${prepared('BELAY_RUNTIME')}:/opt/belay:ro`], Init: true },
  });
  await container.start();
  return container;
}

/**
 * Bytes of a container according to cgroup version 2 or 1: its private memory, and all memory
 * charged to it.
 */
function memoryOf(id: string): { anonymous: number; total: number } {
  const places = [
    `/sys/fs/cgroup/system.slice/docker-${id}.scope`,
    `/sys/fs/cgroup/docker/${id}`,
    `/sys/fs/cgroup/memory/docker/${id}`,
  ];
  const folder = places.find((place) => existsSync(`${place}/memory.stat`));
  if (!folder) throw new Error(`The cgroup of container ${id} is in none of: ${places.join(', ')}`);
  const stat = Object.fromEntries<string | undefined>(
    readFileSync(`${folder}/memory.stat`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
  const current = ['memory.current', 'memory.usage_in_bytes'].find((name) =>
    existsSync(`${folder}/${name}`),
  );
  return {
    anonymous: Number(stat.anon ?? stat.total_rss),
    total: Number(readFileSync(`${folder}/${current}`, 'utf8')),
  };
}
