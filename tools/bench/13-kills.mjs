import { containerOf, follow, playing, withServer } from './platform.mjs';
import { median } from './statistics.mjs';

export const title = 'kill -9 of the server, and of an agent';

const agents = 5;
const steps = 20;

/** Killing dockerd would end what else runs on this machine: docs/benchmarks.md says how to try it. */
export async function measure() {
  return withServer({}, async (server) => {
    const model = playing(server, [
      ...Array.from({ length: steps }, (_, index) => ({
        calls: [
          {
            operation: 'terminal.run',
            input: { command: `sleep 0.4; echo "<step $((${index}))>"` },
          },
        ],
      })),
      { finish: 'done' },
    ]);
    const sessions = await Promise.all(
      Array.from({ length: agents }, async () => {
        const { id } = await server.client.sessions.create({
          task: 'Go on',
          model,
          approvals: 'auto',
        });
        return follow(server, id);
      }),
    );
    for (const session of sessions)
      await session.until(() => session.terminal().includes('<step 2>'), 'the third step');
    const adopted = await killServer(server, sessions);
    for (const session of sessions) await session.finished();
    const lost = sessions.reduce((sum, session) => sum + lostEvents(session), 0);
    for (const session of sessions) session.close();
    const reported = [];
    for (let run = 0; run < 3; run++) reported.push(await killAgent(server));
    return [
      { what: `${agents} agents taken up again`, figure: adopted, unit: 's', target: 10 },
      { what: 'events lost or doubled', figure: lost, unit: '', target: 0 },
      { what: 'an agent’s death is said', figure: median(reported), unit: 's', target: 5 },
    ];
  });
}

/** Seconds from the kill until every agent answers a call through the new server. */
async function killServer(server, sessions) {
  await server.end('SIGKILL');
  const begun = performance.now();
  await server.start();
  for (const session of sessions) session.follow();
  await Promise.all(
    sessions.map(async ({ id }) => {
      for (;;) {
        const answer = await server.client.sessions
          .call(id, 'system.time', {})
          .catch(() => undefined);
        if (answer) return;
        await new Promise((done) => setTimeout(done, 20));
      }
    }),
  );
  return (performance.now() - begun) / 1000;
}

/** Holes and repetitions in the numbers of the events, in the steps’ results, and in what they printed. */
function lostEvents(session) {
  const numbers = session.events.filter((event, index) => event.seq !== index + 1).length;
  const ran = session.events.filter(
    ({ action, source, args }) =>
      action === 'result' && source === 'agent' && args.operation === 'terminal.run',
  ).length;
  const printed = session.terminal().match(/^<step \d+>/gm) ?? [];
  return (
    numbers +
    Math.abs(steps - ran) +
    Math.abs(steps - new Set(printed).size) +
    (printed.length - new Set(printed).size)
  );
}

async function killAgent(server) {
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
