import { createClient, type BelayClient, type SessionListener } from '@belay/client';
import type { LiveSide } from '@/lib/server';

/**
 * Replaces `lib/server` in tests: the real client, whose `fetch` `RestStub` replaces, and a live
 * connection without a socket.
 */
export const client: BelayClient = createClient({ url: 'http://localhost' });

export const uploadClient = (): BelayClient => client;

export const hasKey = true;

export const recorded = false;

export const live = (): LiveSide => liveSide;

/** The page’s requests to the live connection. */
export const requests: { name: string; input: unknown }[] = [];

/** The listener of a session’s page, once its log is loaded. */
export const liveListener = (session: string): SessionListener | undefined =>
  listeners.get(session);

const listeners = new Map<string, SessionListener>();

const liveSide: LiveSide = {
  state: 'live',
  onState: () => () => undefined,
  watch(session, listener) {
    listeners.set(session, listener);
    return { close: () => void listeners.delete(session) };
  },
  fleet: () => ({ close: () => undefined }),
  evaluations: () => ({ close: () => undefined }),
  async request(name, input) {
    requests.push({ name, input });
  },
};
