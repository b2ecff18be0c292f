import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import type { DiffedFile } from './diffed-files';
import { reversePatch, type FileDiff, type DiffHunk } from './diff';

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

interface Viewed {
  /** Files that the user has looked through, by session: as they were then. */
  parts: Record<string, string[]>;
  toggle(session: string, mark: string): void;
}

export const useViewed = create<Viewed>()(
  persist(
    (set) => ({
      parts: {},
      toggle: (session, mark) =>
        set(({ parts }) => {
          const now = parts[session] ?? [];
          const next = now.includes(mark) ? now.filter((each) => each !== mark) : [...now, mark];
          return { parts: { ...parts, [session]: next } };
        }),
    }),
    { name: 'belay.viewed' },
  ),
);

/** Characters of a change that tell it from another of the same size. */
const mostHashed = 20_000;

/** Names a file as it is now: one that changes afterwards is not viewed any more. */
export function viewedMark(file: DiffedFile): string {
  const mark = marks.get(file) ?? markOf(file);
  marks.set(file, mark);
  return mark;
}

const marks = new WeakMap<DiffedFile, string>();

function markOf({ path, added, removed, part = '' }: DiffedFile): string {
  let hash = part.length;
  const end = Math.min(part.length, mostHashed);
  for (let at = 0; at < end; at += 1) hash = (Math.imul(hash, 31) + part.charCodeAt(at)) | 0;
  return `${path}\n${added} ${removed} ${hash}`;
}

interface Decision {
  file: FileDiff;
  hunk: DiffHunk;
  text: string;
}

/** Reverts a hunk and sends the reason to the agent, so that it does not repeat the change. */
export async function rejectHunk(session: string, { file, hunk, text }: Decision): Promise<void> {
  await client.sessions.wake(session);
  await client.sessions.call(session, 'files.patch', { patch: reversePatch(file, hunk) });
  await client.sessions.message(session, {
    review: true,
    text: `I rejected this change to \`${file.path}\` and reverted it. Reason: ${text}\n\n${quoted(hunk)}`,
  });
  toast('Reverted. The agent was told why.');
}

export async function commentHunk(session: string, { file, hunk, text }: Decision): Promise<void> {
  await client.sessions.message(session, {
    review: true,
    text: `About this change to \`${file.path}\`: ${text}\n\n${quoted(hunk)}`,
  });
  toast('Sent to the agent.');
}

const quoted = (hunk: DiffHunk): string => `\`\`\`diff\n${hunk.raw.trimEnd()}\n\`\`\``;
