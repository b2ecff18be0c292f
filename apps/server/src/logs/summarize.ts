import {
  countedActivity,
  isFact,
  noActivity,
  isCall,
  type Event,
  type EventArgs,
  type Fact,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';
import { subjectOf } from './subject.js';
import { wallTimeAfter } from './wall-time.js';

/** The summary of a session whose log is still empty. */
export function firstSummary(
  id: string,
  settings: SessionSettings,
  created: string,
): SessionSummary {
  return {
    id,
    title: settings.title ?? titleOf(settings.task),
    task: settings.task,
    model: settings.model,
    image: settings.image,
    sandbox: settings.sandbox,
    state: 'starting',
    reason: null,
    created,
    updated: created,
    lastSeq: 0,
    steps: 0,
    tokens: 0,
    dollars: 0,
    contextTokens: 0,
    contextWindow: null,
    budgets: settings.budgets,
    approvals: settings.approvals,
    current: null,
    waitingFor: [],
    ...noQuestion,
    plan: null,
    forkedFrom: null,
    tags: settings.tags,
    archived: false,
    activity: noActivity,
    wallTime: { seconds: 0, since: null },
  };
}

/** Folds one event into the summary. Pure: the log alone gives the same summary again. */
export function summarize(summary: SessionSummary, event: Event): SessionSummary {
  return {
    ...summary,
    ...changes(summary, event),
    activity: countedActivity(summary.activity, event.time),
    wallTime: wallTimeAfter(summary.wallTime, event),
    updated: event.time,
    lastSeq: event.seq,
  };
}

function changes(summary: SessionSummary, event: Event): Partial<SessionSummary> {
  if (isFact(event, 'start')) {
    const { model, image, budgets, approvals } = event.args;
    return { model, image, budgets, approvals, current: null, waitingFor: [], ...noQuestion };
  }
  if (isFact(event, 'state')) return { state: event.args.state, reason: event.args.reason };
  if (isFact(event, 'result')) return afterResult(summary, event);
  if (isFact(event, 'approval')) {
    if (event.args.mode !== 'ask') return {};
    const { id, operation, input, risk, subject } = event.args;
    return {
      waitingFor: [...without(summary, id), { id, operation, input, risk, subject }],
    };
  }
  if (isFact(event, 'approve') || isFact(event, 'reject')) {
    return { waitingFor: without(summary, event.id) };
  }
  if (isFact(event, 'message')) return noQuestion;
  if (isFact(event, 'usage')) return afterUsage(summary, event.args);
  if (isFact(event, 'plan')) return { plan: progress(event.args.markdown) };
  if (isFact(event, 'change')) return changed(summary, event.args);
  if (isFact(event, 'fork')) {
    // What the other session spent is counted there.
    const { session, seq } = event.args;
    return { forkedFrom: { session, seq }, steps: 0, tokens: 0, dollars: 0 };
  }
  if (isFact(event, 'stop') || isFact(event, 'error') || isFact(event, 'limit')) {
    return { current: null, waitingFor: [], ...noQuestion };
  }
  return isCall(event.action) ? afterCall(event) : {};
}

function afterCall(event: Event): Partial<SessionSummary> {
  if (event.action === 'ask') return { ...questionOf(event.args), current: null };
  if (event.action === 'finish') return { current: null, waitingFor: [], ...noQuestion };
  const subject = subjectOf(event.action, event.args).slice(0, 200);
  return { current: subject ? `${event.action} ${subject}` : event.action };
}

const noQuestion = { question: null, options: [] };

const questionOf = ({ question, options }: Event['args']) => ({
  question: typeof question === 'string' ? question : '',
  options: Array.isArray(options) ? options.map(String) : [],
});

function afterResult(summary: SessionSummary, event: Fact<'result'>): Partial<SessionSummary> {
  return {
    waitingFor: without(summary, event.id),
    ...(event.args.operation === 'ask' && noQuestion),
    ...(summary.current?.startsWith(event.args.operation) && { current: null }),
  };
}

function afterUsage(summary: SessionSummary, usage: EventArgs<'usage'>): Partial<SessionSummary> {
  return {
    steps: summary.steps + 1,
    tokens: summary.tokens + usage.inputTokens + usage.outputTokens,
    dollars: summary.dollars + (usage.dollars ?? 0),
    contextTokens: usage.contextTokens,
    contextWindow: usage.contextWindow ?? summary.contextWindow,
  };
}

function changed(
  summary: SessionSummary,
  { title, tags, archived, approvals, budgets }: EventArgs<'change'>,
): Partial<SessionSummary> {
  return {
    title: title ?? summary.title,
    tags: tags ?? summary.tags,
    archived: archived ?? summary.archived,
    approvals: approvals ?? summary.approvals,
    budgets: budgets ?? summary.budgets,
  };
}

const without = (summary: SessionSummary, call: string | undefined) =>
  summary.waitingFor.filter((waiting) => waiting.id !== call);

function progress(markdown: string): SessionSummary['plan'] {
  const steps = markdown.match(/^\s*[-*+] \[[ xX]\]/gm)?.length ?? 0;
  const done = markdown.match(/^\s*[-*+] \[[xX]\]/gm)?.length ?? 0;
  return { steps, done };
}

function titleOf(task: string): string {
  const line = task.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79).trimEnd()}…` : line;
}
