import type { BelayServer, Followed } from '@belay/testkit';
import { follow, playing } from './platform.ts';

const usualSteps = 20;

/** Working agents whose steps can all be counted at the end, followed `through` this or another server. */
export async function countingAgents(
  server: BelayServer,
  count: number,
  { through = server, steps = usualSteps } = {},
): Promise<Followed[]> {
  const calls = Array.from({ length: steps }, (_, index) => ({
    calls: [
      { operation: 'terminal.run', input: { command: `sleep 0.4; echo "<step $((${index}))>"` } },
    ],
  }));
  const model = playing(server, [...calls, { finish: 'done' }]);
  const sessions = await Promise.all(
    Array.from({ length: count }, async () => {
      const { id } = await server.client.sessions.create({
        task: 'Count',
        model,
        approvals: 'auto',
      });
      return follow(through, id);
    }),
  );
  for (const session of sessions)
    await session.until(() => session.terminal().includes('<step 2>'), 'the third step');
  return sessions;
}

/** Resolves once every agent answers a call through the server. */
export async function allAnswer(server: BelayServer, sessions: Followed[]): Promise<void> {
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
}

/**
 * Waits until all sessions finish; counts gaps and duplicates in event numbers, results of steps,
 * and printed lines.
 */
export async function lostInAll(sessions: Followed[], steps = usualSteps): Promise<number> {
  for (const session of sessions) await session.finished();
  return sessions.reduce((sum, session) => sum + lostEvents(session, steps), 0);
}

function lostEvents(session: Followed, steps: number): number {
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
