import { z } from 'zod';
import { actionName } from '../actions.js';
import { newSessionAgent } from '../agents.js';
import { checkCommand } from '../check.js';
import { gitHostName, repositoryUrl } from '../git.js';
import { gitIdentity } from '../git-identity.js';
import { newImage } from '../image-reference.js';
import { mcpServerName } from '../mcp.js';
import { modelName } from '../models.js';
import { rerunSetup } from '../reruns.js';
import { egressPolicy, sessionState } from '../session.js';
import { templateName } from '../task-templates.js';
import { forgeEvent } from './automation-events.js';
import { timeSpan } from './time-span.js';

/** Letters, digits and dashes: it is part of addresses, branch names and comments. */
export const automationName = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$/,
    'a name has lowercase letters, digits and dashes, at most 60, such as fix-ci',
  );

/** A repository as its host names it: `acme/api`; groups of GitLab may be nested. */
export const repositoryPath = z
  .string()
  .max(300)
  .regex(
    /^[\w.-]+(?:\/[\w.-]+)+$/,
    'a repository as its host names it, such as acme/api, without the host',
  );

/** A condition on the fields of an event; `filter.ts` says what it may contain. */
export const automationFilter = z.string().trim().min(1).max(500);

const glob = z.string().min(1).max(300);

const shortHosts: ReadonlyMap<string, string> = new Map([
  ['github', 'github.com'],
  ['gitlab', 'gitlab.com'],
]);

/** An event of a repository, learned of by webhook, by polling, or both. */
const forgeTrigger = z.strictObject({
  host: gitHostName
    .overwrite((host) => shortHosts.get(host) ?? host)
    .describe('The git host, such as github.com; it must be set up with a token.'),
  repository: repositoryPath,
  event: z.union([forgeEvent, z.array(forgeEvent).min(1).max(5)]).describe('One event or several.'),
  label: z.string().min(1).max(100).optional().describe('For `…labelled`: this label alone.'),
  command: z
    .string()
    .regex(/^[a-z][a-z-]{1,30}$/, 'one word in lowercase letters, such as fix')
    .optional()
    .describe('For `…command`: a comment that begins with `/belay WORD`.'),
  where: automationFilter.optional().describe('A condition on the fields of the event.'),
  by: z
    .enum(['webhook', 'poll', 'both'])
    .default('both')
    .describe('How it is learned of. `poll` also works for servers that cannot be reached.'),
  every: timeSpan.default('60s').describe('How often to poll.'),
});

/** Times. */
const scheduleTrigger = z.strictObject({
  schedule: z
    .string()
    .max(200)
    .describe('Minute, hour, day of month, month and day of week, such as `30 2 * * 1-5`.'),
  zone: z.string().max(60).default('UTC').describe('An IANA time zone such as Europe/Berlin.'),
  late: timeSpan
    .default('10m')
    .describe('How late it may begin. What is later was missed, which is told and not repeated.'),
  repository: repositoryUrl.optional(),
});

/** A request to an address with a secret of its own. */
const urlTrigger = z.strictObject({
  url: z.literal(true).describe('A URL of its own, which takes a JSON object.'),
  where: automationFilter.optional(),
  key: z
    .string()
    .max(200)
    .optional()
    .describe('The field whose value identifies a request, so that it is not run twice.'),
  repository: repositoryUrl.optional(),
});

/** The end of another session. */
const sessionTrigger = z.strictObject({
  session: z
    .strictObject({
      tag: z.string().min(1).max(40).optional(),
      automation: automationName.optional().describe('Sessions that this automation began.'),
      state: z.array(sessionState.extract(['finished', 'failed', 'limited'])).min(1),
    })
    .describe('Which sessions, and how they ended.'),
  where: automationFilter.optional(),
});

/** A user’s request. */
const handTrigger = z.strictObject({
  hand: z.literal(true).describe('Only a user begins it: `belay automations run NAME`.'),
  repository: repositoryUrl.optional(),
});

/** The kinds of triggers, by the key that tells which one it is; the first that is there decides. */
export const triggerSchemas = {
  host: forgeTrigger,
  schedule: scheduleTrigger,
  url: urlTrigger,
  session: sessionTrigger,
  hand: handTrigger,
} as const;

/** What begins a run. */
export const automationTrigger = z.union(Object.values(triggerSchemas));
export type AutomationTrigger = z.output<typeof automationTrigger>;
export type ForgeTrigger = z.output<typeof forgeTrigger>;

export const isForgeTrigger = (on: AutomationTrigger): on is ForgeTrigger => 'host' in on;

const trust = z.strictObject({
  actors: z
    .enum(['write', 'maintain', 'admin'])
    .default('write')
    .describe('The permission that its actor must have, as the git host says when it is asked.'),
  users: z
    .array(z.string().min(1).max(200))
    .max(200)
    .default([])
    .describe('If given, only these users, by their name or id at the host.'),
  bots: z
    .array(z.string().min(1).max(200))
    .max(20)
    .default([])
    .describe('Bots that may begin it, by name or id; all others are ignored.'),
  content: z
    .enum(['writers', 'quoted'])
    .default('writers')
    .describe(
      '`writers`: texts of people without write access are left out; `quoted`: they are given as quoted data.',
    ),
  forks: z
    .enum(['refuse', 'review'])
    .default('refuse')
    .describe('`review`: changes of forks are only read, as quoted data on top of the base.'),
  self: z
    .boolean()
    .default(false)
    .describe('Checks of what this server pushed may begin it, which is how a fix is followed up.'),
});

const budgets = z
  .strictObject({
    dollars: z.number().positive().max(1_000),
    tokens: z.int().positive(),
    seconds: z.int().positive().max(86_400),
    steps: z.int().positive(),
  })
  .partial()
  .refine(({ dollars, tokens }) => dollars !== undefined || tokens !== undefined, {
    error: 'name dollars or tokens, so that a run has a limit',
  });

const run = z.strictObject({
  template: templateName.optional().describe('A task template of the automation’s owner.'),
  task: z.string().trim().min(1).max(20_000).optional().describe('What to do.'),
  agent: newSessionAgent.optional(),
  model: modelName.optional(),
  image: newImage,
  budgets,
  approvals: z
    .enum(['rules', 'auto', 'ask'])
    .default('rules')
    .describe('`rules`: what no rule allows is refused, and nobody is asked.'),
  waits: timeSpan.default('24h').describe('How long it may wait for a user before it ends.'),
  check: checkCommand.optional().describe('Its exit code decides whether the run succeeded.'),
  egress: z.strictObject(egressPolicy.shape).default({ profile: 'none', hosts: [] }),
  mcp: z.array(mcpServerName).max(20).default([]),
  actions: z.array(actionName).max(50).default([]),
  trustFiles: z
    .boolean()
    .default(false)
    .describe('Trust AGENTS.md and skills, as they are on the default branch.'),
  gitIdentity: gitIdentity.optional(),
});

const lane = z.strictObject({
  key: z
    .string()
    .min(1)
    .max(200)
    .default('{subject}')
    .describe('One run at a time for each value: text with fields such as `pr:{number}`.'),
  busy: z.enum(['queue', 'skip', 'replace']).default('queue'),
  queued: z.int().min(1).max(100).default(10),
  attempts: z.int().min(1).max(20).default(3).describe('Runs until a user steps in.'),
  cooldown: timeSpan.default('1m').describe('The time between two runs.'),
  perHour: z.int().positive().max(1_000).default(10),
  perDay: z.int().positive().max(10_000).default(50),
  dollarsPerMonth: z.number().positive().max(100_000).default(50),
  stopWhenNoChange: z
    .boolean()
    .default(true)
    .describe('A run that changed nothing is stuck: the next one needs a user.'),
});

const proof = z.strictObject({
  reproduction: z
    .enum(['required', 'wanted', 'none'])
    .default('wanted')
    .describe(
      '`required`: without a test that fails before the change and passes with it, nothing is published.',
    ),
  commands: z
    .array(z.string().min(1).max(300))
    .max(10)
    .default([])
    .describe('Commands that run tests, besides the check; `{files}` stands for names of files.'),
  testFiles: z.array(glob).min(1).max(50).optional(),
  setup: z
    .strictObject({ ...rerunSetup.shape, hosts: egressPolicy.shape.hosts })
    .optional()
    .describe('Makes what tests need and the image does not have, before they are run again.'),
  seconds: z.int().positive().max(3_600).default(600),
  repeat: z.int().min(1).max(5).default(2),
});

const maxOf = (most: number, usual: number) =>
  z.strictObject({ max: z.int().min(1).max(most).default(usual) });

const out = z
  .strictObject({
    pullRequest: z.strictObject({
      draft: z.boolean().default(true),
      max: z.literal(1).default(1),
      branch: z.string().min(1).max(150).default('belay/{subject}-{salt}'),
      files: z.int().min(1).max(1_000).default(100),
      bytes: z.int().min(1).max(67_108_864).default(4_194_304),
      ciFiles: z.enum(['refuse', 'allow']).default('refuse'),
      paths: z.array(glob).min(1).max(50).default(['**']),
      labels: z.array(z.string().min(1).max(50)).max(5).default([]),
    }),
    push: z.strictObject({
      branch: z.literal('same'),
      only: z
        .string()
        .max(100)
        .default('belay/')
        .describe('Only to branches whose names begin so.'),
    }),
    comment: maxOf(1, 1),
    review: maxOf(50, 20),
    replies: maxOf(50, 20),
    reaction: z.boolean(),
    labels: z.strictObject({
      remove: z.array(z.string().min(1).max(50)).max(5).default([]),
      add: z.array(z.string().min(1).max(50)).max(5).default([]),
    }),
  })
  .partial();

/** An automation as its author writes it: what begins it, whom it trusts, what it runs, and what may come out. */
export const automationDefinition = z.strictObject({
  name: automationName,
  description: z.string().max(500).optional(),
  on: automationTrigger,
  trust: trust.prefault({}),
  run,
  lane: lane.prefault({}),
  out: out.prefault({}),
  proof: proof.prefault({}),
  dry: z.boolean().default(false).describe('Decide, and show what would be done, and do nothing.'),
});
export type AutomationDefinition = z.output<typeof automationDefinition>;
export type AutomationDefinitionInput = z.input<typeof automationDefinition>;
