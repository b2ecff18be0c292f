import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { client } from '@/lib/server';
import { say } from '@/lib/toasts';
import { reversePatch, type FileDiff, type Hunk } from './diff';

interface Accepted {
  /** Accepted hunks by session; a hunk that changes afterwards is undecided again. */
  hunks: Record<string, string[]>;
  has(session: string, hunk: string): boolean;
  toggle(session: string, hunk: string): void;
}

export const useAccepted = create<Accepted>()(
  persist(
    (set, get) => ({
      hunks: {},
      has: (session, hunk) => get().hunks[session]?.includes(hunk) ?? false,
      toggle: (session, hunk) =>
        set(({ hunks }) => {
          const now = hunks[session] ?? [];
          const next = now.includes(hunk) ? now.filter((each) => each !== hunk) : [...now, hunk];
          return { hunks: { ...hunks, [session]: next } };
        }),
    }),
    { name: 'belay.accepted' },
  ),
);

interface Decision {
  file: FileDiff;
  hunk: Hunk;
  text: string;
}

/** Takes a hunk back and tells the agent why, so that it does not do it again. */
export async function rejectHunk(session: string, { file, hunk, text }: Decision): Promise<void> {
  await client.sessions.wake(session);
  await client.sessions.call(session, 'files.patch', { patch: reversePatch(file, hunk) });
  await client.sessions.message(session, {
    text: `I rejected this change of \`${file.path}\` and took it back. Reason: ${text}\n\n${quoted(hunk)}`,
  });
  say('Taken back. The agent is told why.');
}

export async function commentHunk(session: string, { file, hunk, text }: Decision): Promise<void> {
  await client.sessions.message(session, {
    text: `About this change of \`${file.path}\`: ${text}\n\n${quoted(hunk)}`,
  });
  say('Sent to the agent.');
}

const quoted = (hunk: Hunk): string => `\`\`\`diff\n${hunk.raw.trimEnd()}\n\`\`\``;
