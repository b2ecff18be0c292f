import { SharedServers, type BelayServer } from '@belay/testkit';
import { allAnswer, countingAgents, lostInAll } from './counting-agents.ts';
import { median } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'one of two servers ends; its sessions go on at the other';

/** A server that is stopped hangs: its connections stay open, and nothing answers. */
type Signal = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';

const agents = 5;
const rounds = 3;
/** So many that the agents still work when the other server has taken over. */
const steps = 40;

interface Takeover {
  /** Seconds from the signal until the other server answered a request. */
  served: number;
  /** Seconds until every agent answered a call through it. */
  answered: number;
  /** Events, steps and lines. */
  lost: number;
}

export async function measure(): Promise<Row[]> {
  const servers = new SharedServers({ BELAY_LOG_LEVEL: 'warn' });
  try {
    await servers.start(2);
    const kills = await takeovers(servers, 'SIGKILL');
    const stops = await takeovers(servers, 'SIGTERM');
    const hangs = await takeovers(servers, 'SIGSTOP');
    return [...rows('killed', kills, 10), ...rows('stopped', stops, 5), ...rows('hung', hangs, 15)];
  } finally {
    await servers.dispose();
  }
}

function rows(how: string, found: readonly Takeover[], target: number): Row[] {
  const lost = found.reduce((sum, each) => sum + each.lost, 0);
  const answered = found.map((each) => each.answered);
  return [
    {
      what: `${how}: until it serves, median of ${found.length}`,
      figure: median(found.map((each) => each.served)),
      unit: 's',
      target: null,
    },
    {
      what: `${how}: until ${agents} agents answer, longest`,
      figure: Math.max(...answered),
      unit: 's',
      target,
    },
    { what: `${how}: events lost or doubled`, figure: lost, unit: '', target: 0 },
  ];
}

/** Each of the two ends in turn, and then stands by. */
async function takeovers(servers: SharedServers, signal: Signal): Promise<Takeover[]> {
  const found: Takeover[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [ending, other] =
      round % 2 === 0 ? [servers.first, servers.second] : [servers.second, servers.first];
    found.push(await takeover(servers, { ending, other, signal }));
    await ending.start();
  }
  // So that the first one leads again.
  if (rounds % 2 === 1) {
    await servers.second.end();
    await servers.second.start();
  }
  return found;
}

async function takeover(
  servers: SharedServers,
  { ending, other, signal }: { ending: BelayServer; other: BelayServer; signal: Signal },
): Promise<Takeover> {
  const sessions = await countingAgents(servers.first, agents, { through: other, steps });
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  if (signal === 'SIGSTOP') process.kill(ending.pid, signal);
  else await ending.end(signal);
  while (!(await other.client.sessions.list().catch(() => undefined)))
    await new Promise((done) => setTimeout(done, 20));
  const served = seconds();
  await allAnswer(other, sessions);
  const answered = seconds();
  const lost = await lostInAll(sessions, steps);
  for (const session of sessions) session.close();
  if (signal === 'SIGSTOP') await ending.end('SIGKILL');
  return { served, answered, lost };
}
