import {
  fact,
  isEnded,
  isFact,
  operations,
  type Event,
  type EventArgs,
  type NewEvent,
  type SessionState,
  type SessionSummary,
} from '@belay/protocol';
import { budgetIsSpent } from './budgets.js';

/**
 * The change of state that an event brings about, stored in the same transaction. Pure.
 * `summary` is the session's after the event was folded in. An ended session stays so until it is started again.
 */
export function consequences(event: Event, summary: SessionSummary): NewEvent[] {
  const next = stateAfter(event, summary);
  if (!next) return [];
  const same = next.state === summary.state && next.reason === summary.reason;
  if (event.action !== 'start' && (same || isEnded(summary.state))) return [];
  return [fact('server', 'state', { args: next, message: stateMessage(next) })];
}

interface NextState {
  state: SessionState;
  reason: string | null;
}

function stateAfter(event: Event, summary: SessionSummary): NextState | undefined {
  if (isFact(event, 'start')) return { state: 'starting', reason: null };
  if (isFact(event, 'stop')) return { state: 'stopped', reason: 'Stopped by a person.' };
  if (isFact(event, 'pause')) return { state: 'paused', reason: null };
  if (isFact(event, 'resume')) return working(summary);
  if (isFact(event, 'rewind') && event.args.what !== 'files') {
    return { state: 'stopped', reason: `Rewound to step ${event.args.seq}: say how to go on.` };
  }
  if (isFact(event, 'error')) return { state: 'failed', reason: event.args.message };
  if (isFact(event, 'limit')) {
    return { state: 'limited', reason: `${budgetIsSpent(event.args)}.` };
  }
  if (isFact(event, 'approval') && event.args.mode === 'ask') return unlessPaused(summary);
  if (isFact(event, 'approve') || isFact(event, 'reject') || isFact(event, 'message')) {
    return goesOn(summary);
  }
  if (isFact(event, 'result')) return finished(event.args) ?? goesOn(summary);
  if (event.action === 'ask') return unlessPaused(summary);
  return undefined;
}

const goesOn = (summary: SessionSummary): NextState | undefined =>
  summary.state === 'waiting' ? working(summary) : undefined;

/** A finish that was refused ends nothing. */
function finished({ operation, ok, output }: EventArgs<'result'>): NextState | undefined {
  if (operation !== operations.finish.name || !ok) return undefined;
  const ending = operations.finish.output.safeParse(output);
  if (!ending.success) return undefined;
  const { outcome, summary } = ending.data;
  return { state: outcome === 'success' ? 'finished' : 'failed', reason: summary || null };
}

const unlessPaused = (summary: SessionSummary): NextState | undefined =>
  summary.state === 'paused' ? undefined : working(summary);

/** Running, or waiting while a person is asked something. */
function working({ waitingFor, question }: SessionSummary): NextState {
  const call = waitingFor[0];
  if (call) return { state: 'waiting', reason: `May ${call.operation} run? ${call.subject}` };
  if (question !== null) return { state: 'waiting', reason: question };
  return { state: 'running', reason: null };
}

export function stateMessage({ state, reason }: NextState): string {
  const words: Record<SessionState, string> = {
    starting: 'The session starts.',
    running: 'The agent works.',
    waiting: 'The session waits for a person.',
    paused: 'The session is paused.',
    finished: 'The task is finished.',
    failed: 'The session failed.',
    limited: 'A limit was reached.',
    stopped: 'The session is stopped.',
  };
  return reason ? `${words[state]} ${reason}` : words[state];
}
