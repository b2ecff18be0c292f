import { existsSync, readFileSync } from 'node:fs';
import { containerOf, idleSession, withServer } from './platform.mjs';

export const title = 'memory of an idle agent (its cgroup)';

/** The floor is a bare Node that does nothing, in the same image. */
export async function measure() {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    const container = await containerOf(session.id);
    await new Promise((done) => setTimeout(done, 3_000));
    const { anonymous, total } = memoryOf(container.id);
    session.close();
    return [
      { what: 'private memory', figure: anonymous / 2 ** 20, unit: 'MB', target: 25 },
      { what: 'with shared pages and cache', figure: total / 2 ** 20, unit: 'MB', target: null },
    ];
  });
}

/** Bytes of a container, by cgroup version 2 or 1: what is its own, and all that is charged to it. */
function memoryOf(id) {
  const places = [
    `/sys/fs/cgroup/system.slice/docker-${id}.scope`,
    `/sys/fs/cgroup/docker/${id}`,
    `/sys/fs/cgroup/memory/docker/${id}`,
  ];
  const folder = places.find((place) => existsSync(`${place}/memory.stat`));
  if (!folder) throw new Error(`The cgroup of container ${id} is in none of: ${places.join(', ')}`);
  const stat = Object.fromEntries(
    readFileSync(`${folder}/memory.stat`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ')),
  );
  const current = ['memory.current', 'memory.usage_in_bytes'].find((name) =>
    existsSync(`${folder}/${name}`),
  );
  return {
    anonymous: Number(stat.anon ?? stat.total_rss),
    total: Number(readFileSync(`${folder}/${current}`, 'utf8')),
  };
}
