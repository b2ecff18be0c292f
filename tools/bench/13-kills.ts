import type { BelayServer, Followed } from '@belay/testkit';
import { allAnswer, countingAgents, lostInAll } from './counting-agents.ts';
import { containerOf, follow, playing, withServer } from './platform.ts';
import { median } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'kill -9 of the server, and of an agent';

const agents = 5;

export async function measure(): Promise<Row[]> {
  return withServer({}, async (server) => {
    const sessions = await countingAgents(server, agents);
    const adopted = await killServer(server, sessions);
    const lost = await lostInAll(sessions);
    for (const session of sessions) session.close();
    const reported: number[] = [];
    for (let run = 0; run < 3; run++) reported.push(await killAgent(server));
    return [
      { what: `${agents} agents taken up again`, figure: adopted, unit: 's', target: 10 },
      { what: 'events lost or doubled', figure: lost, unit: '', target: 0 },
      { what: 'an agent’s death is reported', figure: median(reported), unit: 's', target: 5 },
    ];
  });
}

/** Seconds from the kill until every agent answers a call through the new server. */
async function killServer(server: BelayServer, sessions: Followed[]): Promise<number> {
  await server.end('SIGKILL');
  const begun = performance.now();
  await server.start();
  for (const session of sessions) session.follow();
  await allAnswer(server, sessions);
  return (performance.now() - begun) / 1000;
}

async function killAgent(server: BelayServer): Promise<number> {
  const { id } = await server.client.sessions.create({
    task: 'Fall',
    model: playing(server, [
      {
        calls: [{ operation: 'terminal.run', input: { command: 'echo up; sleep 300', wait: 300 } }],
      },
    ]),
    approvals: 'auto',
  });
  const session = follow(server, id);
  await session.until(() => session.terminal().includes('up\r\n'), 'the command');
  const container = await containerOf(id);
  const begun = performance.now();
  await container.kill();
  await session.state('failed');
  session.close();
  return (performance.now() - begun) / 1000;
}
