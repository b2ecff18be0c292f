import { z } from 'zod';

/** What happens at a git host and can begin a run. */
export const forgeEvent = z.enum([
  'issue.opened',
  'issue.labelled',
  'issue.assigned',
  'issue.command',
  'pull.opened',
  'pull.updated',
  'pull.labelled',
  'pull.reviewed',
  'pull.commented',
  'pull.command',
  'checks.failed',
  'checks.passed',
  'push',
  'release.published',
]);
export type ForgeEvent = z.infer<typeof forgeEvent>;

/** Everything that can begin a run. */
export const automationEvent = z.enum([
  ...forgeEvent.options,
  'schedule',
  'url',
  'session.ended',
  'hand',
]);
export type AutomationEvent = z.infer<typeof automationEvent>;

/** The types of the fields that filters and lane keys use. */
export type FieldType = 'text' | 'number' | 'flag' | 'list';

const who = { user: 'text' } as const;
const issue = { number: 'number', title: 'text', author: 'text', labels: 'list' } as const;
const pull = { ...issue, branch: 'text', base: 'text', sha: 'text', draft: 'flag' } as const;
const checks = {
  branch: 'text',
  sha: 'text',
  number: 'number',
  names: 'list',
} as const;

/**
 * The fields of each event, by name. `user` is the name of the one who did it, `author` that of the issue or pull request;
 * `names` are the checks that failed or passed. `url` has the fields of the JSON object that was sent instead.
 */
export const eventFields: Readonly<
  Record<AutomationEvent, Readonly<Record<string, FieldType>> | null>
> = {
  'issue.opened': { ...who, ...issue },
  'issue.labelled': { ...who, ...issue, label: 'text' },
  'issue.assigned': { ...who, ...issue, assignee: 'text' },
  'issue.command': { ...who, ...issue, command: 'text' },
  'pull.opened': { ...who, ...pull },
  'pull.updated': { ...who, ...pull },
  'pull.labelled': { ...who, ...pull, label: 'text' },
  'pull.reviewed': { ...who, ...pull, verdict: 'text' },
  'pull.commented': { ...who, ...pull },
  'pull.command': { ...who, ...pull, command: 'text' },
  'checks.failed': checks,
  'checks.passed': checks,
  push: { ...who, branch: 'text', sha: 'text' },
  'release.published': { ...who, tag: 'text', title: 'text' },
  schedule: {},
  url: null,
  'session.ended': { session: 'text', state: 'text', title: 'text', tags: 'list' },
  hand: { ...who },
};

/** The values of an event’s fields; those that are not known are missing. */
export const fieldValues = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]),
);
export type FieldValues = z.infer<typeof fieldValues>;

/** A user of a git host. The id, not the name, says who it is: a name can be given up and taken by another. */
export const forgeUser = z.object({
  id: z.string().min(1).max(100),
  name: z.string().max(200),
  isBot: z.boolean(),
});
export type ForgeUser = z.infer<typeof forgeUser>;

/**
 * Something that happened, in one form whether it was sent by a webhook, found by polling, or began here. It only says
 * where to look: who may do it, which commit it is about and which text counts are asked from the git host.
 */
export const occurrence = z.object({
  event: automationEvent,
  /** The same for the same thing, however it was learned of: `comment:123`, `pull:7:SHA`, `checks:SHA:failed:HASH`. */
  key: z.string().min(1).max(300),
  at: z.iso.datetime({ offset: true }),
  /** Who did it, as the host says; null where no user did. */
  actor: forgeUser.nullable(),
  /** The issue or pull request. */
  number: z.int().positive().optional(),
  label: z.string().max(300).optional(),
  assignee: z.string().max(200).optional(),
  /** The comment or review that it is about. */
  comment: z.string().max(100).optional(),
  /** The first word of a command, without the slash; its argument is text of the comment. */
  command: z.string().max(40).optional(),
  /** Of a review: `approved`, `changes`, `comment`. */
  verdict: z.string().max(40).optional(),
  branch: z.string().max(300).optional(),
  sha: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional(),
  tag: z.string().max(300).optional(),
  /** The key of the review that it is part of: what comes first of a review begins the run of all of it. */
  review: z.string().min(1).max(300).optional(),
  /** The hash of the text that was there, so that a text that is edited afterwards is recognized. */
  textSha256: z.string().length(64).optional(),
  /** Whether something was changed between the event and the look that found it: the text of that time is not known. */
  textChanged: z.boolean().optional(),
  /** The session that ended. */
  session: z.string().max(100).optional(),
  /** The JSON object that was sent to an automation’s own URL, as text. */
  payload: z.string().max(262_144).optional(),
});
export type Occurrence = z.infer<typeof occurrence>;
