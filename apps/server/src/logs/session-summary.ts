import {
  countedActivity,
  callOf,
  excerpt,
  isCall,
  isEnded,
  isPlayedModel,
  isStarted,
  noActivity,
  operationNamed,
  planProgress,
  rewinds,
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
import { boundedSummary, maxExcerpt } from './bounded-summary.js';
import { caseOf, type EventCases } from './event-cases.js';

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
    agent: settings.agent ?? null,
    machine: settings.machine,
    mounts: settings.mounts,
    state: 'starting',
    reason: null,
    created,
    updated: created,
    lastSeq: 0,
    ...noUse,
    workTime: { seconds: 0, since: null },
    openRequests: 0,
    contextTokens: 0,
    contextWindow: null,
    budgets: settings.budgets,
    approvals: settings.approvals,
    network: settings.egress.profile,
    current: null,
    waitingFor: [],
    modelError: null,
    attention: null,
    ...noQuestion,
    plan: null,
    forkedFrom: null,
    tags: settings.tags,
    archived: false,
    comparison: null,
    check: settings.check === null ? null : { ...waitingCheck, command: settings.check },
    cloned: settings.repository !== undefined,
    published: null,
    activity: noActivity,
  });
}

/** Folds one event into the summary. Pure: folding the same log gives the same summary. */
export function summaryAfter(summary: SessionSummary, event: Event): SessionSummary {
  return boundedSummary({
    ...summary,
    ...useAfter(summary, event),
    ...(caseOf(eventChanges, event, summary) ?? (isCall(event.action) && afterCall(event))),
    workTime: workTimeAfter(summary.workTime, event),
    activity: countedActivity(summary.activity, event.time),
    updated: event.time,
    lastSeq: event.seq,
  });
}

const eventChanges: EventCases<Partial<SessionSummary>> = {
  start: (
    { args: { model, image, approvals, egress, machine, again } },
    { check, question, options },
  ) => ({
    machine,
    model,
    image,
    approvals,
    network: egress.profile,
    check: check && { ...check, ...waitingCheck },
    ...nothingUnderWay,
    // The next agent waits for the answer to what an earlier one asked.
    ...(again && { question, options }),
  }),
  state: ({ args: { state, reason } }) => ({
    state,
    reason,
    ...(isEnded(state) && { modelError: null }),
  }),
  result: (event, summary) => afterResult(summary, event),
  'background-result': ({ args }, summary) => currentAfter(summary, args.operation),
  approval: ({ args: { mode, id, operation, input, risk, subject, fixed } }, summary) => {
    const request = { id, operation, input, risk, subject, ...(fixed && { fixed }) };
    return mode === 'ask' ? { waitingFor: [...without(summary, id), request] } : {};
  },
  approve: ({ id }, summary) => ({ waitingFor: without(summary, id) }),
  reject: ({ id }, summary) => ({ waitingFor: without(summary, id) }),
  message: ({ args }) => ({
    modelError: null,
    attention: null,
    ...(!args.review && noQuestion),
  }),
  placed: ({ args: { machine } }) => ({ machine }),
  resume: () => ({ modelError: null }),
  turn: ({ args }) => (args.change === 'began' ? { attention: null } : {}),
  attention: ({ args }) => ({ attention: args.why }),
  retry: (event, summary) => afterRetry(summary, event),
  end: () => nothingUnderWay,
  request: (_, { openRequests }) => ({ openRequests: openRequests + 1 }),
  usage: ({ args }, summary) => afterUsage(summary, args),
  plan: ({ args }) => ({ plan: planProgress(args.markdown) }),
  change: ({ args }, summary) => changed(summary, args),
  check: (event) => afterCheck(event),
  fork: ({ args: { session, seq } }) => ({
    forkedFrom: { session, seq },
    published: null,
    openRequests: 0,
  }),
  publish: ({ args }, { published }) => {
    const { url, branch, base, commit } = args;
    return { published: { url, branch, base, commit, ...requestOf(args, published) } };
  },
  stop: () => nothingUnderWay,
  rewind: (event) => (rewinds(event, 'conversation') ? nothingUnderWay : {}),
  error: ({ args }, summary) => afterError(summary, args),
  limit: () => nothingUnderWay,
};

function afterCheck({ args, seq }: EventOf<'check'> & Event): Partial<SessionSummary> {
  const { output: _, ...check } = args;
  return { check: { ...check, seq } };
}

function afterCall(event: Event): Partial<SessionSummary> {
  const asked = callOf(event, 'ask');
  if (asked) return { question: asked.args.question, options: asked.args.options, current: null };
  if (callOf(event, 'finish')) return nothingUnderWay;
  const subject = subjectOf(event.action, event.args).slice(0, 200);
  return { current: subject ? `${event.action} ${subject}` : event.action };
}

/** A push without a new pull request updates the one of its branch. */
function requestOf(
  { url, branch, pullRequest }: NonNullable<SessionSummary['published']>,
  before: SessionSummary['published'],
): Pick<NonNullable<SessionSummary['published']>, 'pullRequest'> {
  const isSameBranch = before?.url === url && before.branch === branch;
  return { pullRequest: pullRequest ?? (isSameBranch ? before.pullRequest : null) };
}

const waitingCheck = {
  state: 'waiting',
  exitCode: null,
  seconds: null,
  reason: null,
  seq: null,
} as const;

const noQuestion = { question: null, options: [] };
const nothingUnderWay = {
  current: null,
  waitingFor: [],
  modelError: null,
  attention: null,
  ...noQuestion,
};

/** Shorter delays before a retry are not shown as a state of the session. */
const shownDelaySeconds = 5;

function afterRetry(
  { modelError }: SessionSummary,
  { args: { seconds, error }, time }: EventOf<'retry'> & Event,
): Partial<SessionSummary> {
  if (seconds < shownDelaySeconds && !modelError) return {};
  const retryAt = new Date(Date.parse(time) + seconds * 1000).toISOString();
  return { modelError: { message: error, retryAt } };
}

function afterError({ model }: SessionSummary, { message }: EventArgs<'error'>) {
  return isPlayedModel(model)
    ? nothingUnderWay
    : { ...nothingUnderWay, modelError: { message: excerpt(message, maxExcerpt), retryAt: null } };
}

function afterResult(summary: SessionSummary, event: EventOf<'result'>): Partial<SessionSummary> {
  return {
    waitingFor: without(summary, event.id),
    ...(operationNamed(event.args.operation)?.display === 'question' && noQuestion),
    // A background process stays the current activity until something else is done.
    ...(!isStarted(event.args) && currentAfter(summary, event.args.operation)),
  };
}

const currentAfter = ({ current }: SessionSummary, operation: string): Partial<SessionSummary> =>
  current?.startsWith(operation) ? { current: null } : {};

function afterUsage(summary: SessionSummary, usage: EventArgs<'usage'>): Partial<SessionSummary> {
  if (usage.purpose === 'draft') return {};
  const openRequests = Math.max(0, summary.openRequests - (usage.request === undefined ? 0 : 1));
  if (usage.purpose === 'failed') return { openRequests };
  if (usage.purpose === 'side') return { openRequests, modelError: null };
  return {
    openRequests,
    modelError: null,
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
    modelError: model === undefined ? summary.modelError : null,
    network: egress?.profile ?? summary.network,
  };
}

const without = (summary: SessionSummary, call: string | undefined) =>
  summary.waitingFor.filter((waiting) => waiting.id !== call);

function titleOf(task: string): string {
  const line = task.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79).trimEnd()}…` : line;
}
