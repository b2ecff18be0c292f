import type { SessionSummary } from '@belay/protocol';
import { mayAnswerFirst } from '@/lib/new-questions';
import { client } from '@/lib/server';
import { attempt, toast } from '@/lib/toasts';

/** Answers the oldest request by a shortcut. Refuses one that has only just appeared. */
export function answerFirst(
  summary: SessionSummary | undefined,
  verdict: 'approved' | 'rejected',
): void {
  const [request] = summary?.waitingFor ?? [];
  if (!summary || !request) toast('Nothing is waiting for you.');
  else if (!mayAnswerFirst(summary.id)) toast('This is a new question. Read it, then press again.');
  else attempt(() => client.sessions.answer(summary.id, request.id, { verdict }));
}
