import { useMemo } from 'react';
import { undoneMessages, type Event, type EventOf, type ReviewComment } from '@belay/protocol';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { marksStore } from './decisions';
import type { DiffLine, FileDiff } from './diff';

/** A comment of a review that was sent. */
export interface ReviewThread {
  /** Identifies the thread in its session. */
  id: string;
  comment: ReviewComment;
  time: string;
}

/** Threads that the user marked as resolved, by their ids. */
export const useResolved = marksStore('belay.resolved');

/** The threads of all reviews that count, by path. */
export function useReviewThreads(): ReadonlyMap<string, readonly ReviewThread[]> {
  const reviews = useView((view) => view.reviews);
  const rewinds = useView((view) => view.rewinds);
  const withdrawn = useView((view) => view.withdrawn);
  return useMemo(() => {
    const isUndone = undoneMessages(rewinds);
    const counting = reviews.filter((event) => !isUndone(event) && !withdrawn.has(event.seq));
    return Map.groupBy(counting.flatMap(threadsOf), ({ comment }) => comment.path);
  }, [reviews, rewinds, withdrawn]);
}

const threadsOf = ({ seq, time, args }: Event & EventOf<'message'>): ReviewThread[] =>
  (args.review?.comments ?? []).map((comment, index) => ({ id: `${seq}.${index}`, comment, time }));

export function useIsResolved(thread: ReviewThread): boolean {
  const session = useSessionId();
  return useResolved(({ marks }) => marks[session]?.includes(thread.id) ?? false);
}

/** Where the threads of a file are in its diff. */
export interface PlacedThreads {
  /** By the last line of each. */
  placed: ReadonlyMap<DiffLine, readonly ReviewThread[]>;
  /** Those whose lines have changed since, or are not part of the diff. */
  outdated: readonly ReviewThread[];
}

export const noThreads: readonly ReviewThread[] = [];
const nowhere: PlacedThreads = { placed: new Map(), outdated: noThreads };

/** Finds the lines of each thread by their text; among equal ones, the nearest to their number. */
export function placeThreads(
  { hunks }: Pick<FileDiff, 'hunks'>,
  threads: readonly ReviewThread[],
): PlacedThreads {
  if (threads.length === 0) return nowhere;
  const placed = new Map<DiffLine, ReviewThread[]>();
  const outdated: ReviewThread[] = [];
  for (const thread of threads) {
    const { side, to, quote } = thread.comment;
    const ends = hunks.flatMap(({ lines }) => endsOf(lines, quote));
    const distance = (line: DiffLine) => Math.abs((line[side] ?? line.after ?? 0) - to);
    const [end] = ends.toSorted((a, b) => distance(a) - distance(b));
    if (end) placed.set(end, [...(placed.get(end) ?? []), thread]);
    else outdated.push(thread);
  }
  return { placed, outdated };
}

/** The last lines of all places where the quoted lines follow each other. */
function endsOf(lines: readonly DiffLine[], quote: readonly string[]): DiffLine[] {
  if (quote.length === 0) return [];
  return lines.filter((_, index) => {
    const first = index - quote.length + 1;
    return (
      first >= 0 &&
      quote.every((text, at) => {
        const line = lines[first + at];
        return line !== undefined && line.kind + line.text === text;
      })
    );
  });
}
