import type { SessionSummary } from '@belay/protocol';
import { create } from 'zustand';

/** The session whose changes the user is about to publish. */
export const usePublishRequest = create<{ session: SessionSummary | null }>()(() => ({
  session: null,
}));

/** Asks where to bring the session’s changes: to a git host, or to a folder of the user. */
export const askPublish = (session: SessionSummary | null = null): void =>
  usePublishRequest.setState({ session });

/** A branch name made from the title. */
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
