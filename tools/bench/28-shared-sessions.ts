import { SharedServers } from '@belay/testkit';
import { countingAgents, lostInAll } from './counting-agents.ts';
import { serverTime } from './processor-time.ts';
import type { Row } from '../bench-table.ts';

export const title = 'sessions shared by one to five servers, a viewer for each: processor time';

const agents = 24;
const steps = 80;
/** How busy a server may be: it has one processor for its own code. */
const mostBusy = 0.7;

/** Processor times are in milliseconds for 1,000 events. */
interface Shared {
  servers: number;
  /** Of the server that has most to do. */
  busiest: number;
  together: number;
  /** Of a server for events of its own sessions, and of the one that leads for those of others. */
  own: number;
  passedOn: number;
  /** Events, steps and lines. */
  lost: number;
}

export async function measure(): Promise<Row[]> {
  const one = await shared(1);
  const [two, three, five] = [await shared(2), await shared(3), await shared(5)];
  const floor = one.busiest;
  const time = (what: string, figure: number, target: number | null = null): Row => ({
    what: `${what}, for 1,000 events`,
    figure,
    unit: 'ms',
    target,
    floor,
  });
  return [
    time('2 servers: the busiest', two.busiest, floor),
    time('3 servers: the busiest', three.busiest, floor),
    time('5 servers: the busiest', five.busiest, floor),
    time('5 servers: all together', five.together),
    time('5 servers: an owner', five.own),
    time('5 servers: the one that leads, of the others’ events', five.passedOn),
    {
      what: 'events lost or doubled',
      figure: one.lost + two.lost + three.lost + five.lost,
      unit: '',
      target: 0,
    },
    ...[one, two, three, five].map(({ busiest, servers }) => ({
      what: `${servers} ${servers > 1 ? 'servers' : 'server'}: events a second`,
      figure: (mostBusy * 1_000_000) / busiest,
      unit: '1/s',
      target: null,
      floor: (mostBusy * 1_000_000) / one.busiest,
    })),
    ...[2, 3, 5, 10, 20].map((count) => ({
      what: `${count} servers: events a second, by the times of 5`,
      figure: capacity(five, count),
      unit: '1/s',
      target: null,
      floor: capacity(one, 1),
    })),
  ];
}

/**
 * What so many servers can do before one of them is too busy, in events a second: the owners their own, while the one that
 * leads passes these on, and has sessions of its own for the rest of its time.
 */
function capacity({ own, passedOn }: Shared, count: number): number {
  const time = mostBusy * 1_000;
  const ofOwners = Math.min((count - 1) * (time / own), time / passedOn) || 0;
  const rest = time - ofOwners * passedOn;
  return (ofOwners + rest / own) * 1_000;
}

async function shared(count: number): Promise<Shared> {
  const servers = new SharedServers({
    BELAY_LOG_LEVEL: 'warn',
    BELAY_POOL: '0',
    BELAY_MAX_SANDBOXES: String(agents),
  });
  try {
    await servers.start(count);
    const before = servers.all.map(serverTime);
    const sessions = await countingAgents(servers.first, agents, { steps });
    const [owners, lead] = [await servers.owners(), await servers.lead()];
    const lost = await lostInAll(sessions, steps);
    const [ofLead = 0, ...others] = servers.all.map(
      (server, at) => serverTime(server) - (before[at] ?? 0),
    );
    const ofOthers = others.reduce((sum, time) => sum + time, 0);
    let [ownEvents, otherEvents] = [0, 0];
    for (const session of sessions) {
      if (owners.get(session.id) === lead) ownEvents += session.events.length;
      else otherEvents += session.events.length;
      session.close();
    }
    const perThousand = 1_000 / (ownEvents + otherEvents);
    const own = otherEvents > 0 ? ofOthers / otherEvents : ofLead / ownEvents;
    const passedOn = otherEvents > 0 ? (ofLead - own * ownEvents) / otherEvents : 0;
    return {
      servers: count,
      busiest: Math.max(ofLead, ...others) * perThousand,
      together: (ofLead + ofOthers) * perThousand,
      own: own * 1_000,
      passedOn: passedOn * 1_000,
      lost,
    };
  } finally {
    await servers.dispose();
  }
}
