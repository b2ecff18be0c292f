import type { NewSession } from '@belay/protocol';
import { start, type Followed } from './followed.js';
import { script } from './script.js';
import type { BelayServer } from './belay-server.js';

/** A session that waits for the user, so that its agent leaves the sandbox alone during a test. */
export async function idle(server: BelayServer, more: Partial<NewSession> = {}): Promise<Followed> {
  const turns = [{ calls: [{ operation: 'ask', input: { question: 'Done?' } }] }];
  const session = await start(server, { task: 'Wait', model: script(server.data, turns), ...more });
  await session.state('waiting');
  return session;
}
