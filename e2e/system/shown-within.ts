import type { SessionState } from '@belay/protocol';
import type { BelayServer, Followed } from '@belay/testkit';
import { until } from '@belay/testing';

/** How long what a server shows of a session may be wrong after a fault, in milliseconds. */
const shownWithinMs = 10_000;

/** Resolves when the server shows this state of a session, with a reason like this; rejects when that is too late. */
export async function shownWithin(
  server: Pick<BelayServer, 'client'>,
  { id }: Followed,
  { state, reason }: { state: SessionState; reason: RegExp },
): Promise<void> {
  const shown = () => server.client.sessions.get(id);
  await until(
    `${id} is shown as ${state}`,
    async () => {
      const now = await shown();
      return now.state === state && reason.test(now.reason ?? '');
    },
    { timeoutMs: shownWithinMs, state: async () => JSON.stringify(await shown()) },
  );
}
