import type { SessionSummary } from '@belay/protocol';
import { create } from 'zustand';

/** The session that the user is about to share. */
export const useShareRequest = create<{ session: SessionSummary | null }>()(() => ({
  session: null,
}));

export const askShare = (session: SessionSummary | null = null): void =>
  useShareRequest.setState({ session });
