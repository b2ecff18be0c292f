import {
  BelayServer,
  clusterServer,
  metricsOnFreePort,
  prepared,
  TestCluster,
  untilWarm,
  type Followed,
} from '@belay/testkit';
import { firstOutput, printing } from './01-warm-start.ts';
import { make, watched, type Run } from './07-throughput.ts';
import { idleSession } from './platform.ts';
import { median, percentile, timed } from './statistics.ts';
import { typist } from './typist.ts';
import { loadImages } from '../load-images.mjs';
import { partCluster } from '../part-cluster.mjs';
import type { Row } from '../bench-table.ts';

export const title =
  'sandboxes in pods of a cluster beside containers of Docker: targets 1, 5, 6 and 7';

/** A server on one of the engines, with a session that waits for its user. */
interface Engine {
  server: BelayServer;
  metrics: string;
  session: Followed;
}

/** What both engines need of the other one’s time. */
interface Both {
  docker: number[];
  pods: number[];
}

/** The samples of both engines alternate, so that both run under the same load. */
export async function measure(): Promise<Row[]> {
  const { environment, down } = await partCluster();
  Object.assign(process.env, environment);
  try {
    loadImages(['BELAY_TEST_IMAGE', 'BELAY_RUNTIME_IMAGE'].map(prepared));
    const cluster = await TestCluster.open();
    try {
      return await measureBeside(cluster);
    } finally {
      await cluster.remove();
    }
  } finally {
    await down();
  }
}

async function measureBeside(cluster: TestCluster): Promise<Row[]> {
  const variables = {
    BELAY_POOL: '1',
    BELAY_LOG_LEVEL: 'warn',
    BELAY_IMAGE: prepared('BELAY_TEST_IMAGE'),
  };
  const servers: BelayServer[] = [];
  const started = async (
    create: (more: Record<string, string>) => BelayServer,
  ): Promise<Engine> => {
    const metrics = await metricsOnFreePort();
    const server = create({ ...variables, ...metrics.variables });
    servers.push(server);
    await server.start();
    return { server, metrics: metrics.url, session: await idleSession(server) };
  };
  try {
    const docker = await started((more) => new BelayServer(more));
    const pods = await started((more) => clusterServer(cluster, cluster.nextPort(), more));
    const both = [docker, pods] as const;
    return [
      ...(await starts(both)),
      ...(await calls(both)),
      ...(await keystrokes(both)),
      ...(await throughput(both)),
    ];
  } finally {
    for (const server of servers) await server.dispose();
  }
}

type Engines = readonly [docker: Engine, pods: Engine];

async function alternating(
  times: number,
  [docker, pods]: Engines,
  sample: (engine: Engine) => Promise<number>,
): Promise<Both> {
  const found: Both = { docker: [], pods: [] };
  for (let time = 0; time < times; time += 1) {
    found.docker.push(await sample(docker));
    found.pods.push(await sample(pods));
  }
  return found;
}

async function starts(engines: Engines): Promise<Row[]> {
  const models = new Map(engines.map(({ server }) => [server, printing(server)]));
  const { docker, pods } = await alternating(15, engines, async ({ server, metrics }) => {
    await untilWarm(server, 1, metrics);
    return firstOutput(server, models.get(server) ?? '');
  });
  const floor = median(docker);
  return [
    { what: '1: warm start, median', figure: median(pods), unit: 'ms', target: floor * 1.5, floor },
  ];
}

async function calls(engines: Engines): Promise<Row[]> {
  const run = ({ server, session }: Engine): Promise<unknown> =>
    server.client.sessions.call(session.id, 'terminal.run', { command: 'true' });
  await alternating(10, engines, async (engine) => (await timed(1, () => run(engine)))[0] ?? 0);
  const found = await alternating(
    100,
    engines,
    async (engine) => (await timed(1, () => run(engine)))[0] ?? 0,
  );
  return [added('5: `terminal.run true`, median', found, median)];
}

async function keystrokes(engines: Engines): Promise<Row[]> {
  const typists = new Map<Engine, () => Promise<unknown>>();
  for (const engine of engines) typists.set(engine, await typist(engine.server, engine.session));
  const found = await alternating(
    65,
    engines,
    async (engine) => (await timed(1, async () => typists.get(engine)?.()))[0] ?? 0,
  );
  for (const engine of engines) await handBack(engine);
  // The first ones also load what later ones need.
  const warmed = { docker: found.docker.slice(5), pods: found.pods.slice(5) };
  return [added('6: keystroke, p95', warmed, (samples) => percentile(samples, 0.95))];
}

/** Gives the terminal back to the agent, without what was typed into it. */
async function handBack({ server: { live }, session }: Engine): Promise<void> {
  const terminal = { session: session.id, terminal: 'main' };
  await live.request('terminal.keys', { ...terminal, data: '\u0015' });
  await live.request('terminal.hold', { ...terminal, holder: 'agent' });
  session.close();
}

async function throughput(engines: Engines): Promise<Row[]> {
  const run =
    ({ server, session }: Engine): Run =>
    (command) =>
      server.client.sessions.call(session.id, 'terminal.run', { command, wait: 120 });
  for (const engine of engines) await run(engine)(make);
  const { docker, pods } = await alternating(
    3,
    engines,
    async (engine) => (await watched(engine.server, engine.session.id, run(engine))).speed,
  );
  const floor = median(docker);
  return [
    {
      what: '7: `cat` of 100 MB, median',
      figure: median(pods),
      unit: 'MB/s',
      target: floor * 0.8,
      floor,
      atLeast: true,
    },
  ];
}

/** Pods may take this much longer, in milliseconds. */
const mostAddedMs = 5;

function added(what: string, { docker, pods }: Both, of: (samples: number[]) => number): Row {
  const floor = of(docker);
  return { what, figure: of(pods), unit: 'ms', target: floor + mostAddedMs, floor };
}
