import { until } from '@belay/testing';
import {
  idle,
  script,
  SharedServers,
  start,
  type BelayServer,
  type Followed,
  type ServerPlace,
} from '@belay/testkit';
import { counting, endCounting, endCountingUnseen, expectCountedOnce } from './counting.js';
import { NetworkNamespace } from './network-namespace.js';

describe('two servers of a database, between which the network is cut,', () => {
  let servers: SharedServers;
  let namespace: NetworkNamespace;
  let databasePort: number;
  let onMachine: ServerPlace;
  let inNamespace: ServerPlace;
  beforeEach(async () => {
    servers = new SharedServers();
    namespace = await NetworkNamespace.make();
    const { address, machine, enter } = namespace;
    databasePort = Number(new URL(await servers.startDatabase(machine)).port);
    const at = (host: string) => ({ BELAY_HOST: host, BELAY_PEER_URL: `tcp://${host}:0` });
    onMachine = { environment: at(machine) };
    inNamespace = { environment: at(address), within: enter };
  });
  afterEach(async () => {
    await namespace.restore();
    await servers.dispose();
    await namespace.dispose();
  });

  /** Two sessions, one at each server, begun and followed through the server on the machine. */
  async function oneAtEach(through: BelayServer): Promise<Followed[]> {
    const model = () => script(servers.first.data, [{ calls: [counting] }, { finish: 'done' }]);
    const begun = () => start(through, { task: 'Count', model: model() });
    const sessions = [await begun(), await begun()];
    const owners = await servers.owners();
    expect(new Set(sessions.map(({ id }) => owners.get(id))).size).toBe(2);
    for (const session of sessions) await session.printed('line 3');
    return sessions;
  }
  const expectOnce = (through: BelayServer, sessions: Followed[]) =>
    Promise.all(
      sessions.map(async (session) => {
        await endCounting(through, session);
        await expectCountedOnce(session);
      }),
    );
  const distinctOwners = async (): Promise<number> =>
    new Set([...(await servers.owners()).values()].filter((owner) => owner !== null)).size;
  /** A server that was cut off begins anew once it can, and gets sessions again. */
  async function expectShared(through: BelayServer): Promise<void> {
    const waiting: Followed[] = [];
    await until('both have sessions', async () => {
      waiting.push(await idle(through));
      return (await distinctOwners()) === 2;
    });
    for (const session of waiting) session.close();
  }

  it('go on with the sessions of the one that is cut off', async () => {
    const leads = await servers.add(onMachine);
    const cutOff = await servers.add(inNamespace);
    const sessions = await oneAtEach(leads);
    await namespace.cut();
    await until('the other one has all', async () => (await distinctOwners()) === 1);
    await until('it begins anew', () => cutOff.log.includes('begins anew'));
    await until('it waits for its database', () => cutOff.log.includes('does not respond ('));
    await expectOnce(leads, sessions);
    await namespace.restore();
    await expectShared(leads);
  });

  it('go on when the one that serves the clients is cut off', async () => {
    const cutOff = await servers.add(inNamespace);
    const other = await servers.add(onMachine);
    const sessions = await oneAtEach(other);
    const led = await servers.lead();
    await namespace.cut();
    await until('the other one leads', async () => (await servers.lead()) !== led);
    for (const { id } of sessions)
      await until('it serves', () => other.client.sessions.get(id).catch(() => false));
    await expectOnce(other, sessions);
    await namespace.restore();
    await until('the first one passes on', () => cutOff.client.sessions.list().catch(() => false));
    await expectShared(other);
  });

  it('keep their sessions while both reach the database, and show them', async () => {
    const leads = await servers.add(onMachine);
    await servers.add(inNamespace);
    const sessions = await oneAtEach(leads);
    const owners = await servers.owners();
    await namespace.cut({ except: databasePort });
    for (const session of sessions) await endCountingUnseen(session);
    await until('both have finished', async () => {
      const shown = await leads.client.sessions.list();
      return shown.every(({ state }) => state === 'finished');
    });
    expect(await servers.owners()).toEqual(owners);
    await namespace.restore();
    await Promise.all(sessions.map(expectCountedOnce));
  });
});
