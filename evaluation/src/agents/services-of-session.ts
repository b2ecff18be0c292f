import { setTimeout as sleep } from 'node:timers/promises';
import type { BelayClient } from '@belay/client';
import { AppError, isEnded, isLoopbackHost, type SessionSummary } from '@belay/protocol';
import type { Services } from '../engine/services.js';
import { Unsupported } from '../model.js';
import type { TrialContext } from './agent.js';

const pollMs = 200;

const elsewhere = () =>
  new Unsupported(
    'Its services run beside sandboxes of this machine’s engine, and the server has its sandboxes elsewhere: use a server on this machine.',
  );

/** Throws `Unsupported` for a server that is on another machine. */
export function assertSameMachine(url: string): void {
  if (!isLoopbackHost(new URL(url).hostname)) throw elsewhere();
}

interface StartedSession {
  client: BelayClient;
  session: SessionSummary;
  /** Its workspace, which it was created without. */
  archive: Uint8Array;
}

/**
 * Starts the services in the network of a session's sandbox. Its agent begins, and the limit of its
 * time counts, once they are ready.
 */
export async function startBeside(
  { engine, signal }: TrialContext,
  services: Services,
  { client, session: { id, budgets, created }, archive }: StartedSession,
): Promise<void> {
  // Without its workspace, the agent cannot begin before this.
  await client.sessions.pause(id);
  await client.uploads.toSession(id, archive);
  const sandbox = async (): Promise<string> => {
    for (;;) {
      const container = await engine.containerOfSession(id);
      if (container !== undefined) return container;
      const { machine, state, reason } = await client.sessions.get(id);
      if (isEnded(state))
        throw new AppError('unavailable', reason ?? 'The session ended before its services ran.');
      if (machine !== null) throw elsewhere();
      await sleep(pollMs, undefined, { signal });
    }
  };
  await services.network(await sandbox());
  if (budgets.seconds !== null) {
    const seconds = budgets.seconds + (Date.now() - Date.parse(created)) / 1000;
    await client.sessions.change(id, { budgets: { ...budgets, seconds } });
  }
  await client.sessions.resume(id);
}

/**
 * Waits until an ended session's sandbox is gone: its programs could answer the tests in place of a
 * service that they have made crash.
 */
export async function endBeside(
  { engine, signal }: TrialContext,
  { client, id }: { client: BelayClient; id: string },
): Promise<void> {
  await client.sessions.change(id, { archived: true });
  while ((await engine.containerOfSession(id)) !== undefined)
    await sleep(pollMs, undefined, { signal });
}
