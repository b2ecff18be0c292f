import { ownAgent, type SessionSummary } from '@belay/protocol';
import { create } from 'zustand';
import { openSessionPage } from '@/lib/open-session-page';
import { client } from '@/lib/server';

interface ForkRequest {
  session: SessionSummary;
  /** The last event the new session keeps. */
  seq: number;
}

/** The fork whose dialog is open; null for none. */
export const useForkRequest = create<{ request: ForkRequest | null }>()(() => ({ request: null }));

/** Opens the dialog that forks the session from an event. */
export const askFork = (session: SessionSummary | undefined, seq = session?.lastSeq): void =>
  useForkRequest.setState({ request: session && seq !== undefined ? { session, seq } : null });

interface ForkChoice {
  model: string;
  /** The name of an agent. */
  agent: string;
  message: string;
}

export const agentOf = ({ agent }: Pick<SessionSummary, 'agent'>): string =>
  agent?.name ?? ownAgent;

/** Starts a new session that continues from an event, and opens it. */
export async function fork(
  { session, seq }: ForkRequest,
  { model, agent, message }: ForkChoice,
): Promise<void> {
  const forked = await client.sessions.fork(session.id, {
    seq,
    ...(model !== session.model && { model }),
    ...(agent !== agentOf(session) && { agent: { name: agent } }),
    ...(message && { message: { text: message } }),
  });
  useForkRequest.setState({ request: null });
  await openSessionPage(forked.id);
}
