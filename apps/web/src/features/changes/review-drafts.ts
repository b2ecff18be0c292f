import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import type { DiffLine } from './diff';

/** A comment on some lines that has not been sent to the agent yet. */
export interface LineComment {
  id: string;
  path: string;
  /** Whether `from` and `to` are line numbers after the change, or before it (removed lines). */
  side: 'after' | 'before';
  from: number;
  to: number;
  /** The lines as in the diff, each with its leading `+`, `-` or space. */
  quote: readonly string[];
  text: string;
}

interface Drafts {
  /** By session; kept across reloads. */
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

/** A comment on these lines of one file; another with the same last line has the same id. */
export function commentOn(path: string, lines: readonly DiffLine[], text: string): LineComment {
  const side = lines.some(({ after }) => after !== null) ? 'after' : 'before';
  const numbers = lines.flatMap((line) => line[side] ?? []);
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
  const quote = lines.map((line) => line.kind + line.text);
  return { id: `${path}\n${side}\n${to}`, path, side, from, to, quote, text };
}

/** Sends all comments as one review message, which does not answer a pending question. */
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
