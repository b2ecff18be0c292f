import type { SessionSummary } from '@belay/protocol';
import { create } from 'zustand';

/** The session whose publish dialog is open; null for none. */
export const usePublishRequest = create<{ session: SessionSummary | null }>()(() => ({
  session: null,
}));

/** Opens the dialog that publishes the session’s changes to a git host or the user’s folder. */
export const askPublish = (session: SessionSummary | null = null): void =>
  usePublishRequest.setState({ session });

/** A branch name derived from the title. */
export function suggestedBranch(title: string): string {
  const words = title
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return `belay/${words || 'changes'}`;
}
