import { z } from 'zod';
import { sessionCheck } from '../check.js';
import { openedRequest } from '../git.js';
import { automationName } from './automation-definition.js';
import { automationEvent, forgeUser, occurrence } from './automation-events.js';

/** Begins the tag of the sessions that an automation began; the name follows, as far as a tag is long. */
export const automationTag = 'automation:';

/** `broken`: it paused itself, and `why` says what to do. */
export const automationState = z.enum(['on', 'paused', 'broken']);

export const runState = z.enum([
  'pending',
  'queued',
  'starting',
  'working',
  'proving',
  'publishing',
  'done',
  'skipped',
  'refused',
  'failed',
  'cancelled',
]);
export type RunState = z.infer<typeof runState>;

/** States that do not change any more. */
export const endedRunStates: readonly RunState[] = [
  'done',
  'skipped',
  'refused',
  'failed',
  'cancelled',
];

/** What came of a run that is done. `speculative`: published without a confirmed reproduction. */
export const runOutcome = z.enum(['published', 'speculative', 'answered', 'nothing', 'stuck']);

/** Why a run was skipped or refused, or what came of it: for programs. `why` is the sentence for people. */
export const runCode = z.string().regex(/^[a-z][a-z-]{1,40}$/);

const time = z.iso.datetime({ offset: true });

/** A text that the run could have used: who wrote it and what became of it, never the text itself. */
export const consideredText = z.object({
  kind: z.enum(['title', 'issue', 'pull', 'comment', 'review', 'diff', 'checks', 'payload']),
  author: z.string().max(200).nullable().describe('The user’s id; null if no user wrote it.'),
  level: z.string().max(20).nullable().describe('The author’s permission.'),
  sha256: z.string().length(64),
  used: z.enum(['task', 'quoted', 'left-out']),
  removed: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Hidden characters and comments that were removed.'),
});
export type ConsideredText = z.infer<typeof consideredText>;

/** What the server found before it decided. */
export const runFindings = z.object({
  actor: forgeUser.nullable().default(null),
  permission: z.string().max(20).nullable().default(null),
  sha: z.string().nullable().default(null),
  branch: z.string().nullable().default(null),
  base: z.string().nullable().default(null),
  isFork: z.boolean().default(false),
  title: z.string().max(1_000).nullable().default(null),
  texts: z.array(consideredText).max(500).default([]),
});
export type RunFindings = z.infer<typeof runFindings>;

/** One run, or the decision against it. */
export const automationRun = z.object({
  id: z.string(),
  automation: automationName,
  version: z.int().positive(),
  event: automationEvent,
  key: z.string().describe('The same for the same thing, however it was learned of.'),
  lane: z.string(),
  subject: z.string().describe('The issue or pull request, such as `#12`, or the event’s name.'),
  state: runState,
  code: runCode.nullable(),
  why: z.string().nullable().describe('The decision or the outcome in one sentence.'),
  session: z.string().nullable(),
  dollars: z.number().nonnegative(),
  check: sessionCheck.nullable(),
  pullRequest: openedRequest.nullable(),
  created: time,
  started: time.nullable(),
  ended: time.nullable(),
});
export type AutomationRun = z.infer<typeof automationRun>;

/** Something that a run sends to a git host: noted before it is sent, and found again after a crash. */
export const outgoingKind = z.enum([
  'reaction',
  'comment',
  'push',
  'pull',
  'pull-text',
  'labels',
  'review',
  'reply',
]);
export type OutgoingKind = z.infer<typeof outgoingKind>;

export const outgoingItem = z.object({
  kind: outgoingKind,
  target: z.string(),
  state: z.enum(['planned', 'sent', 'refused', 'given-up']),
  url: z.string().nullable(),
  why: z.string().nullable(),
  at: time,
});

export type OutgoingItem = z.infer<typeof outgoingItem>;

/** Why a run is as it is: everything that was found and decided, in order. */
export const runExplanation = z.object({
  run: automationRun,
  occurrence: occurrence.omit({ payload: true }),
  findings: runFindings,
  decisions: z
    .array(z.object({ check: z.string(), holds: z.boolean(), why: z.string() }))
    .describe('In the order in which they were made, up to the first that does not hold.'),
  outgoing: z.array(outgoingItem),
});
export type RunExplanation = z.infer<typeof runExplanation>;

/** What was learned of, and what became of it. */
export const deliveryRow = z.object({
  id: z.string(),
  transport: z.enum(['webhook', 'poll', 'url', 'schedule', 'session', 'hand']),
  event: z.string().max(100),
  at: time,
  state: z.enum(['received', 'done', 'duplicate', 'ignored', 'refused']),
  why: z.string().nullable(),
  runs: z.array(z.string()),
});
export type DeliveryRow = z.infer<typeof deliveryRow>;
