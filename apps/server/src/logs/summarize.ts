import {
  countedActivity,
  callOf,
  isCall,
  isEvent,
  isStarted,
  noActivity,
  operationNamed,
  planProgress,
  subjectOf,
  noUse,
  type Event,
  type EventArgs,
  type EventOf,
  type SessionSettings,
  type SessionSummary,
  useAfter,
  workTimeAfter,
} from '@belay/protocol';
import { boundedSummary } from './bounded-summary.js';

/** The summary of a session whose log is still empty. */
export function firstSummary(
  id: string,
  settings: SessionSettings,
  created: string,
): SessionSummary {
  return boundedSummary({
    id,
    title: settings.title ?? titleOf(settings.task),
    task: settings.task,
    model: settings.model,
    image: settings.image,
    sandbox: settings.sandbox,
    machine: settings.machine,
    mounts: settings.mounts,
    state: 'starting',
    reason: null,
    created,
    updated: created,
    lastSeq: 0,
    ...noUse,
    workTime: { seconds: 0, since: null },
    contextTokens: 0,
    contextWindow: null,
    budgets: settings.budgets,
    approvals: settings.approvals,
    network: settings.egress.profile,
    current: null,
    waitingFor: [],
    ...noQuestion,
    plan: null,
    forkedFrom: null,
    tags: settings.tags,
    archived: false,
    comparison: null,
    check: settings.check === null ? null : { ...waitingCheck, command: settings.check },
    activity: noActivity,
  });
}

/** Folds one event into the summary. Pure: the log alone gives the same summary again. */
export function summarize(summary: SessionSummary, event: Event): SessionSummary {
  return boundedSummary({
    ...summary,
    ...useAfter(summary, event),
    ...changes(summary, event),
    workTime: workTimeAfter(summary.workTime, event),
    activity: countedActivity(summary.activity, event.time),
    updated: event.time,
    lastSeq: event.seq,
  });
}

function changes(summary: SessionSummary, event: Event): Partial<SessionSummary> {
  if (isEvent(event, 'start')) {
    const { model, image, approvals, egress } = event.args;
    const network = egress.profile;
    const check = summary.check && { ...summary.check, ...waitingCheck };
    return {
      model,
      image,
      approvals,
      network,
      check,
      current: null,
      waitingFor: [],
      ...noQuestion,
    };
  }
  if (isEvent(event, 'state')) return { state: event.args.state, reason: event.args.reason };
  if (isEvent(event, 'result')) return afterResult(summary, event);
  if (isEvent(event, 'background-result')) return currentAfter(summary, event.args.operation);
  if (isEvent(event, 'approval')) {
    if (event.args.mode !== 'ask') return {};
    const { id, operation, input, risk, subject } = event.args;
    return {
      waitingFor: [...without(summary, id), { id, operation, input, risk, subject }],
    };
  }
  if (isEvent(event, 'approve') || isEvent(event, 'reject')) {
    return { waitingFor: without(summary, event.id) };
  }
  if (isEvent(event, 'message')) return event.args.review ? {} : noQuestion;
  if (isEvent(event, 'usage')) return afterUsage(summary, event.args);
  if (isEvent(event, 'plan')) return { plan: planProgress(event.args.markdown) };
  if (isEvent(event, 'change')) return changed(summary, event.args);
  if (isEvent(event, 'check')) {
    const { output: _, ...check } = event.args;
    return { check: { ...check, seq: event.seq } };
  }
  if (isEvent(event, 'fork')) {
    const { session, seq } = event.args;
    return { forkedFrom: { session, seq } };
  }
  if (isEvent(event, 'stop') || isEvent(event, 'error') || isEvent(event, 'limit')) {
    return { current: null, waitingFor: [], ...noQuestion };
  }
  return isCall(event.action) ? afterCall(event) : {};
}

function afterCall(event: Event): Partial<SessionSummary> {
  const asked = callOf(event, 'ask');
  if (asked) return { question: asked.args.question, options: asked.args.options, current: null };
  if (callOf(event, 'finish')) return { current: null, waitingFor: [], ...noQuestion };
  const subject = subjectOf(event.action, event.args).slice(0, 200);
  return { current: subject ? `${event.action} ${subject}` : event.action };
}

const waitingCheck = {
  state: 'waiting',
  exitCode: null,
  seconds: null,
  reason: null,
  seq: null,
} as const;

const noQuestion = { question: null, options: [] };

function afterResult(summary: SessionSummary, event: EventOf<'result'>): Partial<SessionSummary> {
  return {
    waitingFor: without(summary, event.id),
    ...(operationNamed(event.args.operation)?.display === 'question' && noQuestion),
    // What runs in the background is still what is done, until something else is.
    ...(!isStarted(event.args) && currentAfter(summary, event.args.operation)),
  };
}

const currentAfter = ({ current }: SessionSummary, operation: string): Partial<SessionSummary> =>
  current?.startsWith(operation) ? { current: null } : {};

function afterUsage(summary: SessionSummary, usage: EventArgs<'usage'>): Partial<SessionSummary> {
  if (usage.purpose === 'draft') return {};
  return {
    contextTokens: usage.contextTokens,
    contextWindow: usage.contextWindow ?? summary.contextWindow,
  };
}

function changed(
  summary: SessionSummary,
  { title, tags, archived, approvals, model, egress }: EventArgs<'change'>,
): Partial<SessionSummary> {
  return {
    title: title ?? summary.title,
    tags: tags ?? summary.tags,
    archived: archived ?? summary.archived,
    approvals: approvals ?? summary.approvals,
    model: model ?? summary.model,
    network: egress?.profile ?? summary.network,
  };
}

const without = (summary: SessionSummary, call: string | undefined) =>
  summary.waitingFor.filter((waiting) => waiting.id !== call);

function titleOf(task: string): string {
  const line = task.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79).trimEnd()}…` : line;
}
