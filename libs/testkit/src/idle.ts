import type { NewSession } from '@belay/protocol';
import { start, type Followed } from './follow.js';
import { script } from './script.js';
import type { BelayServer } from './server-process.js';

/** A session that waits for a person, so that a test has its sandbox to itself. */
export async function idle(server: BelayServer, more: Partial<NewSession> = {}): Promise<Followed> {
  const turns = [{ calls: [{ operation: 'ask', input: { question: 'Done?' } }] }];
  const session = await start(server, { task: 'Wait', model: script(server.data, turns), ...more });
  await session.state('waiting');
  return session;
}
