import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import type { DiffLine } from './diff';

/** A comment on some lines that the agent has not been sent yet. */
export interface LineComment {
  id: string;
  path: string;
  /** Which lines: their numbers after the change, or before it where they were taken away. */
  side: 'after' | 'before';
  from: number;
  to: number;
  /** The lines as the diff shows them. */
  quote: readonly string[];
  text: string;
}

interface Drafts {
  /** By session. They outlive a reload. */
  comments: Record<string, LineComment[]>;
  put(session: string, comment: LineComment): void;
  remove(session: string, id: string): void;
  clear(session: string): void;
}

export const useReviewDrafts = create<Drafts>()(
  persist(
    (set) => {
      const change = (session: string, to: (now: LineComment[]) => LineComment[]) =>
        set(({ comments }) => ({
          comments: { ...comments, [session]: to(comments[session] ?? []) },
        }));
      return {
        comments: {},
        put: (session, comment) =>
          change(session, (now) => [...now.filter(({ id }) => id !== comment.id), comment]),
        remove: (session, id) => change(session, (now) => now.filter((each) => each.id !== id)),
        clear: (session) => change(session, () => []),
      };
    },
    { name: 'belay.review' },
  ),
);

const none: readonly LineComment[] = [];

export const useComments = (session: string): readonly LineComment[] =>
  useReviewDrafts(({ comments }) => comments[session] ?? none);

/** A comment on these lines of one file, in order, which may be the same one as before. */
export function commentOn(path: string, lines: readonly DiffLine[], text: string): LineComment {
  const side = lines.some(({ after }) => after !== null) ? 'after' : 'before';
  const numbers = lines.flatMap((line) => line[side] ?? []);
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
  const quote = lines.map((line) => line.kind + line.text);
  return { id: `${path}\n${side}\n${to}`, path, side, from, to, quote, text };
}

/** Sends all comments as one review, which is a message of its own kind: it answers no question. */
export async function submitReview(
  session: string,
  comments: readonly LineComment[],
): Promise<void> {
  await client.sessions.message(session, { review: true, text: reviewText(comments) });
  useReviewDrafts.getState().clear(session);
  toast('The review was sent to the agent.');
}

function reviewText(comments: readonly LineComment[]): string {
  const ordered = comments.toSorted((a, b) => a.path.localeCompare(b.path) || a.from - b.from);
  const parts = ordered.map(
    ({ path, side, from, to, quote, text }) =>
      `\`${path}\`, ${from === to ? `line ${to}` : `lines ${from} to ${to}`}${side === 'before' ? ' (removed)' : ''}: ${text}\n\n\`\`\`diff\n${quote.join('\n')}\n\`\`\``,
  );
  return `My review of your changes:\n\n${parts.join('\n\n')}`;
}
