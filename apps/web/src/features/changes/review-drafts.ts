import type { ReviewComment } from '@belay/protocol';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { reversePatch, type DiffHunk, type DiffLine, type FileDiff } from './diff';

/** A comment on some lines that has not been sent to the agent yet. */
export interface LineComment extends ReviewComment {
  id: string;
  /** For rejected lines: the patch that reverts them. */
  patch?: string;
  /** Whether the lines were reverted by an attempt to send the review that failed afterwards. */
  reverted?: boolean;
}

/** A review that has not been sent yet. */
export interface ReviewDraft {
  id: string;
  /** The overall comment. */
  overall: string;
  comments: LineComment[];
}

interface Drafts {
  /** By session; kept across reloads. */
  drafts: Record<string, ReviewDraft>;
  put(session: string, comment: LineComment): void;
  setOverall(session: string, overall: string): void;
  remove(session: string, id: string): void;
  /** The rejected lines of a review were reverted. */
  markReverted(session: string): void;
  clear(session: string): void;
}

export const useReviewDrafts = create<Drafts>()(
  persist(
    (set) => {
      const change = (session: string, to: (now: ReviewDraft) => Partial<ReviewDraft>) =>
        set(({ drafts }) => {
          const now = drafts[session] ?? { ...noDraft, id: crypto.randomUUID() };
          return { drafts: { ...drafts, [session]: { ...now, ...to(now) } } };
        });
      return {
        drafts: {},
        put: (session, comment) =>
          change(session, ({ comments }) => ({
            comments: [...comments.filter(({ id }) => id !== comment.id), comment],
          })),
        setOverall: (session, overall) => change(session, () => ({ overall })),
        remove: (session, id) =>
          change(session, ({ comments }) => ({
            comments: comments.filter((each) => each.id !== id),
          })),
        markReverted: (session) =>
          change(session, ({ comments }) => ({
            comments: comments.map((each) => (each.patch ? { ...each, reverted: true } : each)),
          })),
        clear: (session) =>
          set(({ drafts }) => ({
            drafts: Object.fromEntries(Object.entries(drafts).filter(([id]) => id !== session)),
          })),
      };
    },
    { name: 'belay.review-draft' },
  ),
);

const noDraft: ReviewDraft = { id: '', overall: '', comments: [] };

export const useReviewDraft = (session: string): ReviewDraft =>
  useReviewDrafts(({ drafts }) => drafts[session] ?? noDraft);

/** A comment on these lines of one file; another with the same last line has the same id. */
export function commentOn(path: string, lines: readonly DiffLine[], text: string): LineComment {
  const side = lines.some(({ after }) => after !== null) ? 'after' : 'before';
  const numbers = lines.flatMap((line) => line[side] ?? []);
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
  const quote = lines.map((line) => line.kind + line.text);
  return { id: `${path}\n${side}\n${to}`, path, side, from, to, quote, text, rejected: false };
}

/** The rejection of a hunk, with its reason. It is reverted when the review is sent. */
export function rejectHunk(file: FileDiff, hunk: DiffHunk, text: string): LineComment {
  const comment = commentOn(file.path, linesOfChange(hunk), text);
  return {
    ...comment,
    id: `${comment.id}\nrejected`,
    rejected: true,
    patch: reversePatch(file, hunk),
  };
}

/** A hunk’s lines from the first changed one to the last, with those in between. */
export function linesOfChange({ lines }: DiffHunk): readonly DiffLine[] {
  const isChanged = ({ kind }: DiffLine): boolean => kind !== ' ';
  return lines.slice(lines.findIndex(isChanged), lines.findLastIndex(isChanged) + 1);
}
