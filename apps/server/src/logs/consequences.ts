import {
  callOf,
  excerpt,
  newEvent,
  isEnded,
  isPlayedModel,
  outputOf,
  type Event,
  type EventArgs,
  type NewEvent,
  type SessionState,
  type SessionSummary,
} from '@belay/protocol';
import { maxExcerpt } from './bounded-summary.js';
import { budgetIsSpent } from './budgets.js';
import { caseOf, type EventCases } from './event-cases.js';
import { waitsForProvider } from './waits-for-provider.js';

/**
 * The state change that an event causes, stored in the same transaction. Pure. `summary` already includes the event.
 * An ended session stays ended until it is started again.
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
  const asked = callOf(event, 'ask') && unlessPaused(summary);
  const next = caseOf(nextStates, event, summary) ?? asked;
  return next && { ...next, reason: next.reason && excerpt(next.reason, maxExcerpt) };
}

const nextStates: EventCases<NextState | undefined> = {
  start: () => ({ state: 'starting', reason: null }),
  stop: () => ({ state: 'stopped', reason: 'Stopped by the user.' }),
  pause: () => ({ state: 'paused', reason: null }),
  resume: (_, summary) => workingState(summary),
  rewind: ({ args: { what, seq } }) =>
    what === 'files'
      ? undefined
      : { state: 'stopped', reason: `Rewound to event ${seq}: send a message to continue.` },
  error: ({ args }, summary) =>
    isPlayedModel(summary.model)
      ? { state: 'failed', reason: args.message }
      : unlessPaused(summary),
  end: ({ args }) => ({ state: 'finished', reason: args.text || null }),
  retry: ({ args }, summary) =>
    summary.modelError && summary.state !== 'paused'
      ? { state: 'waiting', reason: waitsForProvider(args) }
      : undefined,
  usage: ({ args }, summary) =>
    args.purpose === 'draft' || args.purpose === 'failed' ? undefined : resumed(summary),
  change: ({ args }, summary) => (args.model === undefined ? undefined : resumed(summary)),
  limit: ({ args }) => ({ state: 'limited', reason: `${budgetIsSpent(args)}.` }),
  approval: ({ args }, summary) => (args.mode === 'ask' ? unlessPaused(summary) : undefined),
  approve: (_, summary) => resumed(summary),
  reject: (_, summary) => resumed(summary),
  message: (_, summary) => resumed(summary),
  turn: (_, summary) => resumed(summary),
  attention: (_, summary) => unlessPaused(summary),
  result: ({ args }, summary) => finished(args) ?? resumed(summary),
};

const resumed = (summary: SessionSummary): NextState | undefined =>
  summary.state === 'waiting' ? workingState(summary) : undefined;

/** A refused finish does not end the session. */
function finished(result: EventArgs<'result'>): NextState | undefined {
  const ending = outputOf('finish', result);
  if (!ending) return undefined;
  const { outcome, summary } = ending;
  return { state: outcome === 'success' ? 'finished' : 'failed', reason: summary || null };
}

const unlessPaused = (summary: SessionSummary): NextState | undefined =>
  summary.state === 'paused' ? undefined : workingState(summary);

/** Running, or waiting for the user or for the model. */
export function workingState({
  waitingFor,
  question,
  modelError,
  attention,
}: SessionSummary): NextState {
  const call = waitingFor[0];
  if (call) return { state: 'waiting', reason: `May ${call.operation} run? ${call.subject}` };
  if (question !== null) return { state: 'waiting', reason: question };
  if (attention !== null) return { state: 'waiting', reason: attention };
  if (modelError?.retryAt === null) return { state: 'waiting', reason: modelError.message };
  if (modelError)
    return { state: 'waiting', reason: waitsForProvider({ error: modelError.message }) };
  return { state: 'running', reason: null };
}

export function stateMessage({ state, reason }: NextState): string {
  const words: Record<SessionState, string> = {
    starting: 'The session is starting.',
    running: 'The agent is working.',
    waiting: 'The session is waiting.',
    paused: 'The session is paused.',
    finished: 'The task is finished.',
    failed: 'The session failed.',
    limited: 'A limit was reached.',
    stopped: 'The session is stopped.',
  };
  return reason ? `${words[state]} ${reason}` : words[state];
}
