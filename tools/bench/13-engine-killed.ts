import { prepared, SecondEngine, type BelayServer, type Followed } from '@belay/testkit';
import { allAnswer, countingAgents, lostInAll } from './counting-agents.ts';
import { follow, idleSession, playing, withServer } from './platform.ts';
import type { Row } from '../bench-table.ts';
import { copyRuntime } from '../copy-runtime.ts';

export const title = 'kill -9 of dockerd with live-restore';

const agents = 5;

/** Uses a separate engine, because the machine’s has other work too. */
export async function measure(): Promise<Row[]> {
  const engine = await SecondEngine.start();
  try {
    const image = prepared('BELAY_TEST_DEBIAN');
    await engine.copyImage(image);
    const runtime = await copyRuntime(engine, prepared('BELAY_RUNTIME'));
    const environment = { DOCKER_HOST: engine.host, BELAY_IMAGE: image, BELAY_RUNTIME: runtime };
    return await withServer(environment, (server) => killEngine(server, engine));
  } finally {
    await engine.dispose();
  }
}

async function killEngine(server: BelayServer, engine: SecondEngine): Promise<Row[]> {
  const sessions = await countingAgents(server, agents);
  const victim = await idleSession(server);
  const pid = await engine.pidOf(victim.id);
  const before = await engine.inventory();
  const cut = await startUntilMade(server, engine, before);
  await engine.killDockerd();
  await mustReport(server);
  const refused = [cut, await create(server)];
  for (const session of refused) await mustFail(session);
  // While the engine is down, the server cannot notice this death.
  process.kill(pid, 'SIGKILL');
  for (const session of sessions)
    await session.until(() => session.terminal().includes('<step 7>'), 'work without an engine');

  const begun = performance.now();
  await engine.startDockerd();
  const back = performance.now();
  await victim.state('failed');
  const reported = performance.now();
  await allAnswer(server, sessions);
  const adopted = performance.now();
  // The victim’s container is removed, but its files are kept.
  const halfMade = await left(engine, before - 1);
  for (const session of refused) {
    await server.client.sessions.restart(session.id);
    await session.state('waiting');
  }

  const lost = await lostInAll(sessions);
  const disturbed = sessions.flatMap(({ events }) =>
    events.filter(({ action, args }) => action === 'state' && !usual.has(String(args.state))),
  ).length;
  for (const session of [...sessions, victim, ...refused]) session.close();
  const seconds = (until: number) => (until - begun) / 1000;
  return [
    {
      what: `${agents} agents taken up again, from the engine’s start`,
      figure: seconds(adopted),
      floor: seconds(back),
      unit: 's',
      target: 10,
    },
    { what: 'events lost or doubled', figure: lost, unit: '', target: 0 },
    { what: 'states that a session should not have seen', figure: disturbed, unit: '', target: 0 },
    {
      what: 'a death meanwhile is reported, after the engine is back',
      figure: (reported - back) / 1000,
      unit: 's',
      target: 5,
    },
    {
      what: 'containers and volumes left of two starts that failed',
      figure: halfMade,
      unit: '',
      target: 0,
    },
  ];
}

const usual = new Set(['starting', 'running', 'finished']);

/** The checks must report the failure; sessions are not affected. */
async function mustReport(server: BelayServer): Promise<void> {
  const [docker] = await server.client.server.checks();
  if (!docker || docker.ok || !/Docker does not respond/.test(docker.detail))
    throw new Error(`The checks say: ${JSON.stringify(docker)}`);
}

async function create(server: BelayServer): Promise<Followed> {
  const model = playing(server, [{ calls: [{ operation: 'ask', input: { question: 'Done?' } }] }]);
  return follow(server, (await server.client.sessions.create({ task: 'Wait', model })).id);
}

/** Starts a session and waits until the engine has created something for it. */
async function startUntilMade(
  server: BelayServer,
  engine: SecondEngine,
  before: number,
): Promise<Followed> {
  const session = await create(server);
  while ((await engine.inventory()) === before);
  return session;
}

async function mustFail(session: Followed): Promise<void> {
  const { args } = await session.state('failed');
  const reason = String(args.reason);
  if (!/Docker does not respond/.test(reason)) throw new Error(`The session says: ${reason}`);
}

/** How many containers and volumes exceed the wanted number after at most ten seconds. */
async function left(engine: SecondEngine, wanted: number): Promise<number> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const more = (await engine.inventory()) - wanted;
    if (more === 0 || Date.now() > deadline) return more;
    await new Promise((done) => setTimeout(done, 100));
  }
}
