import type { SessionSummary } from '@belay/protocol';
import { create } from 'zustand';

/** The session whose share dialog is open; null for none. */
export const useShareRequest = create<{ session: SessionSummary | null }>()(() => ({
  session: null,
}));

export const askShare = (session: SessionSummary | null = null): void =>
  useShareRequest.setState({ session });
