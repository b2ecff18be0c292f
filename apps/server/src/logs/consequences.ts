import {
  callOf,
  excerpt,
  newEvent,
  isEnded,
  isEvent,
  outputOf,
  type Event,
  type EventArgs,
  type NewEvent,
  type SessionState,
  type SessionSummary,
} from '@belay/protocol';
import { maxExcerpt } from './bounded-summary.js';
import { budgetIsSpent } from './budgets.js';

/**
 * The change of state that an event brings about, stored in the same transaction. Pure.
 * `summary` is the session’s after the event was folded in. An ended session stays so until it is started again.
 */
export function consequences(event: Event, summary: SessionSummary): NewEvent[] {
  const next = stateAfter(event, summary);
  if (!next) return [];
  const same = next.state === summary.state && next.reason === summary.reason;
  if (event.action !== 'start' && (same || isEnded(summary.state))) return [];
  return [newEvent('server', 'state', { args: next, message: stateMessage(next) })];
}

interface NextState {
  state: SessionState;
  reason: string | null;
}

function stateAfter(event: Event, summary: SessionSummary): NextState | undefined {
  const next = nextState(event, summary);
  return next && { ...next, reason: next.reason && excerpt(next.reason, maxExcerpt) };
}

function nextState(event: Event, summary: SessionSummary): NextState | undefined {
  if (isEvent(event, 'start')) return { state: 'starting', reason: null };
  if (isEvent(event, 'stop')) return { state: 'stopped', reason: 'Stopped by the user.' };
  if (isEvent(event, 'pause')) return { state: 'paused', reason: null };
  if (isEvent(event, 'resume')) return working(summary);
  if (isEvent(event, 'rewind') && event.args.what !== 'files') {
    return {
      state: 'stopped',
      reason: `Rewound to step ${event.args.seq}: send a message to continue.`,
    };
  }
  if (isEvent(event, 'error')) return { state: 'failed', reason: event.args.message };
  if (isEvent(event, 'limit')) {
    return { state: 'limited', reason: `${budgetIsSpent(event.args)}.` };
  }
  if (isEvent(event, 'approval') && event.args.mode === 'ask') return unlessPaused(summary);
  if (isEvent(event, 'approve') || isEvent(event, 'reject') || isEvent(event, 'message')) {
    return resumed(summary);
  }
  if (isEvent(event, 'result')) return finished(event.args) ?? resumed(summary);
  if (callOf(event, 'ask')) return unlessPaused(summary);
  return undefined;
}

const resumed = (summary: SessionSummary): NextState | undefined =>
  summary.state === 'waiting' ? working(summary) : undefined;

/** A refused finish does not end the session. */
function finished(result: EventArgs<'result'>): NextState | undefined {
  const ending = outputOf('finish', result);
  if (!ending) return undefined;
  const { outcome, summary } = ending;
  return { state: outcome === 'success' ? 'finished' : 'failed', reason: summary || null };
}

const unlessPaused = (summary: SessionSummary): NextState | undefined =>
  summary.state === 'paused' ? undefined : working(summary);

/** Running, or waiting while the user is asked something. */
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
    waiting: 'The session waits for the user.',
    paused: 'The session is paused.',
    finished: 'The task is finished.',
    failed: 'The session failed.',
    limited: 'A limit was reached.',
    stopped: 'The session is stopped.',
  };
  return reason ? `${words[state]} ${reason}` : words[state];
}
