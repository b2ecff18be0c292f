import { AppError, newMessage } from '@belay/protocol';
import { ensureSandbox } from '@/features/session-controls/use-can-act';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { useReviewDrafts, type LineComment, type ReviewDraft } from './review-drafts';

/** How much of the quoted lines is sent with each comment, to find its place again. */
const mostQuoted = 500;
const longestLine = 2_000;
/** How many of them the text for the agent contains; it can read the rest. */
const mostInText = 100;

/**
 * Reverts all rejected lines with one patch, and sends the review as one message, which does not
 * answer a pending question. If either fails, the draft stays, and is sent again without reverting twice.
 */
export async function submitReview(session: string, review: ReviewDraft): Promise<void> {
  const { id, overall, comments } = review;
  const { markReverted, clear } = useReviewDrafts.getState();
  const text = reviewText(overall, comments);
  // Checked before anything is reverted.
  if (!newMessage.shape.text.safeParse(text).success)
    throw new AppError('too_large', 'The review is too long to be sent. Remove some comments.');
  const patch = joinedPatch(comments);
  if (patch !== '') {
    await ensureSandbox(session);
    await client.sessions.call(session, 'files.patch', { patch });
    markReverted(session);
  }
  const sent = comments.map(({ path, side, from, to, quote, rejected, ...comment }) => ({
    path,
    side,
    from,
    to,
    text: comment.text,
    rejected,
    quote: quote.slice(0, mostQuoted).map((line) => line.slice(0, longestLine)),
  }));
  await client.sessions.message(session, {
    review: { id, comments: sent },
    text,
  });
  clear(session);
  toast('The review was sent to the agent.');
}

/** The hunks to revert; those of one file share its header. */
function joinedPatch(comments: readonly LineComment[]): string {
  const files = new Map<string, string[]>();
  const patches = comments.flatMap(({ patch, reverted }) => (patch && !reverted ? [patch] : []));
  for (const patch of patches.toSorted((a, b) => firstLine(a) - firstLine(b))) {
    const header = patch.slice(0, patch.indexOf('\n@@ -') + 1);
    files.set(header, [...(files.get(header) ?? []), patch.slice(header.length)]);
  }
  return [...files].map(([header, hunks]) => header + hunks.join('')).join('');
}

/** The line at which the hunk of a patch begins. */
const firstLine = (patch: string): number => Number(/^@@ -(\d+)/m.exec(patch)?.[1] ?? 0);

function reviewText(overall: string, comments: readonly LineComment[]): string {
  const ordered = comments.toSorted((a, b) => a.path.localeCompare(b.path) || a.from - b.from);
  const parts = ordered.map(({ path, side, from, to, quote, text, rejected }) => {
    const lines = from === to ? `line ${to}` : `lines ${from} to ${to}`;
    const what = rejected ? ', rejected and reverted' : side === 'before' ? ' (removed)' : '';
    return `\`${path}\`, ${lines}${what}: ${text}\n\n${fenced(quote)}`;
  });
  return ['My review of your changes:', overall.trim(), ...parts].filter(Boolean).join('\n\n');
}

/** Lines as a block of Markdown, whose fence is longer than any in them. */
function fenced(quote: readonly string[]): string {
  const more = quote.length - mostInText;
  const lines = quote.slice(0, mostInText).map((line) => line.slice(0, longestLine));
  if (more > 0) lines.push(`… ${more} more lines`);
  const text = lines.join('\n');
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}
