import { z } from 'zod';
import { automationDefinition, automationName } from '../automations/automation-definition.js';
import { automationEvent } from '../automations/automation-events.js';
import {
  automationRun,
  automationState,
  deliveryRow,
  runExplanation,
} from '../automations/automation-runs.js';
import { gitHostName } from '../git.js';
import { pageQuery } from './page.js';
import { bytes, nothing, route } from './route.js';

const time = z.iso.datetime({ offset: true });

/** An automation in a list. */
export const automationInfo = z.object({
  name: automationName,
  version: z.int().positive(),
  state: automationState,
  why: z.string().nullable().describe('Why it is not on, and what to do.'),
  owner: z.string().describe('The caller whose rights its runs have.'),
  file: z.string().nullable().describe('The file of a repository that it comes from.'),
  definition: automationDefinition,
  nextAt: time.nullable().describe('The next time of a schedule.'),
  latest: z.array(automationRun).max(10).describe('The latest runs and decisions, newest first.'),
  waiting: z.int().nonnegative().describe('Runs that are queued.'),
  dollarsThisMonth: z.number().nonnegative().describe('Spent and reserved, in this month of UTC.'),
  created: time,
  updated: time,
});
export type AutomationInfo = z.infer<typeof automationInfo>;

/** A definition as YAML or JSON text, as it is in its file. */
export const automationFile = z.object({
  text: z.string().min(1).max(65_536).describe('YAML or JSON.'),
  file: z.string().max(300).default('automation.yaml').describe('Its name, for messages.'),
});

/** One fault of a definition, with its place in the file. */
export const definitionProblem = z.object({
  path: z.string().describe('Such as `lane.busy`; empty for the whole file.'),
  message: z.string(),
  line: z.int().positive().nullable(),
  column: z.int().positive().nullable(),
});
export type DefinitionProblem = z.infer<typeof definitionProblem>;

/** A version of a definition. */
export const automationVersion = z.object({
  version: z.int().positive(),
  text: z.string().describe('As YAML.'),
  by: z.string(),
  at: time,
});
export type AutomationVersion = z.infer<typeof automationVersion>;

/** A lane with what holds for its next run. */
export const automationLane = z.object({
  key: z.string(),
  running: z.string().nullable().describe('The id of the run that holds it.'),
  attempts: z.int().nonnegative(),
  lastStart: time.nullable(),
  stuck: z.string().nullable().describe('Why the next run needs a user.'),
});
export type AutomationLane = z.infer<typeof automationLane>;

/** A repository whose events are followed. */
export const forgeSource = z.object({
  id: z.string(),
  host: gitHostName,
  repository: z.string(),
  self: z.string().describe('The user of the server’s token.'),
  webhook: z.boolean().describe('Whether the server made a webhook there.'),
  hookUrl: z.string().nullable().describe('Where a webhook sends; null without a public address.'),
  trustedBy: z
    .string()
    .nullable()
    .describe('The admin who trusted the definitions in its default branch.'),
  problem: z.string().nullable(),
});
export type ForgeSourceInfo = z.infer<typeof forgeSource>;

/** What checking a definition finds. */
export const definitionReport = z.object({
  problems: z.array(definitionProblem),
  warnings: z.array(z.string()),
  next: z.array(time).describe('The next times of a schedule.'),
  schedule: z.string().nullable().describe('The schedule in words.'),
});
export type DefinitionReport = z.infer<typeof definitionReport>;

/** What a user who begins a run wants. */
export const handRun = z.object({
  number: z.int().positive().optional().describe('The issue or pull request.'),
  branch: z.string().max(300).optional(),
  delivery: z.string().max(100).optional().describe('Repeat this delivery.'),
  dry: z.boolean().default(false).describe('Decide, and begin nothing.'),
});
export type HandRun = z.output<typeof handRun>;

/** A definition to begin with. */
export const automationJob = z.object({
  name: automationName,
  description: z.string(),
  text: z.string().describe('As YAML.'),
});
export type AutomationJob = z.infer<typeof automationJob>;

const named = z.object({ name: automationName });

/** Automations: every change needs `admin`, and none is open to what an automation began. */
export const automationRoutes = {
  list: route({
    method: 'GET',
    path: '/api/automations',
    summary: 'Lists the automations, with their latest runs',
    response: z.array(automationInfo),
  }),
  add: route({
    method: 'POST',
    path: '/api/automations',
    summary: 'Adds an automation',
    body: automationFile,
    response: automationInfo,
    access: 'admin',
    status: 201,
  }),
  check: route({
    method: 'POST',
    path: '/api/automations/check',
    summary: 'Checks a definition, and says everything that is wrong with it',
    body: automationFile,
    response: definitionReport,
    access: 'admin',
    unaudited: true,
  }),
  schema: route({
    method: 'GET',
    path: '/api/automation-schema',
    summary: 'Returns the JSON Schema of definitions',
    response: z.record(z.string(), z.unknown()),
  }),
  jobs: route({
    method: 'GET',
    path: '/api/automation-jobs',
    summary: 'Lists definitions to begin with',
    response: z.array(automationJob),
  }),
  sources: route({
    method: 'GET',
    path: '/api/automation-sources',
    summary: 'Lists the repositories whose events are followed',
    response: z.array(forgeSource),
  }),
  connect: route({
    method: 'POST',
    path: '/api/automation-sources',
    summary: 'Follows a repository: asks what the token may, and makes a webhook where it can',
    body: z.object({
      host: gitHostName,
      repository: z.string().max(300),
      trustFiles: z
        .boolean()
        .optional()
        .describe('Whether definitions in its default branch count.'),
    }),
    nameField: 'repository',
    response: forgeSource.extend({
      secret: z
        .string()
        .nullable()
        .describe('The secret for a webhook that has to be made by hand; shown only once.'),
    }),
    access: 'admin',
  }),
  disconnect: route({
    method: 'DELETE',
    path: '/api/automation-sources/:id',
    summary: 'Stops following a repository',
    response: nothing,
    access: 'admin',
  }),
  get: route({
    method: 'GET',
    path: '/api/automations/:name',
    summary: 'Returns an automation',
    params: named,
    response: automationInfo,
  }),
  text: route({
    method: 'GET',
    path: '/api/automations/:name/yaml',
    summary: 'Returns the definition as YAML',
    params: named,
    response: bytes('application/yaml'),
  }),
  edit: route({
    method: 'PUT',
    path: '/api/automations/:name',
    summary: 'Replaces the definition with a new version',
    params: named,
    body: automationFile,
    response: automationInfo,
    access: 'admin',
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/automations/:name',
    summary: 'Removes an automation; its runs stay',
    params: named,
    response: nothing,
    access: 'admin',
  }),
  pause: route({
    method: 'POST',
    path: '/api/automations/:name/pause',
    summary: 'Pauses an automation; what runs goes on',
    params: named,
    response: automationInfo,
    access: 'admin',
  }),
  resume: route({
    method: 'POST',
    path: '/api/automations/:name/resume',
    summary: 'Switches an automation on again',
    params: named,
    response: automationInfo,
    access: 'admin',
  }),
  run: route({
    method: 'POST',
    path: '/api/automations/:name/run',
    summary: 'Begins a run by hand',
    params: named,
    body: handRun,
    response: runExplanation,
    access: 'admin',
  }),
  secret: route({
    method: 'POST',
    path: '/api/automations/:name/secret',
    summary: 'Makes a new URL secret; the earlier one is no longer accepted',
    params: named,
    response: z.object({ url: z.string(), secret: z.string() }),
    access: 'admin',
  }),
  versions: route({
    method: 'GET',
    path: '/api/automations/:name/versions',
    summary: 'Lists the versions of the definition, newest first',
    params: named,
    response: z.array(automationVersion),
  }),
  next: route({
    method: 'GET',
    path: '/api/automations/:name/next',
    summary: 'Returns the next times of a schedule',
    params: named,
    query: z.object({ count: z.coerce.number().int().min(1).max(50).default(10) }),
    response: z.array(time),
  }),
  lanes: route({
    method: 'GET',
    path: '/api/automations/:name/lanes',
    summary: 'Lists the lanes that are running, stuck or have attempts',
    params: named,
    response: z.array(automationLane),
  }),
  resetLane: route({
    method: 'POST',
    path: '/api/automations/:name/lanes/reset',
    summary: 'Lets a stuck lane go on, with new attempts',
    params: named,
    body: z.object({ key: z.string().max(200) }),
    nameField: 'key',
    response: nothing,
    access: 'admin',
  }),
  history: route({
    method: 'GET',
    path: '/api/automations/:name/runs',
    summary: 'Lists the runs and the decisions against one, newest first',
    params: named,
    query: pageQuery,
    paged: true,
    response: z.array(automationRun),
  }),
  deliveries: route({
    method: 'GET',
    path: '/api/automations/:name/deliveries',
    summary: 'Lists what was learned of, and what became of it, newest first',
    params: named,
    query: pageQuery,
    paged: true,
    response: z.array(deliveryRow),
  }),
  explain: route({
    method: 'GET',
    path: '/api/automation-runs/:run',
    summary: 'Explains a run: what was found, decided and sent',
    response: runExplanation,
    // Also for whoever sees the session that it began.
    about: 'caller',
  }),
  cancel: route({
    method: 'POST',
    path: '/api/automation-runs/:run/cancel',
    summary: 'Cancels a run, and stops its session',
    response: runExplanation,
    access: 'admin',
  }),
  ofSession: route({
    method: 'GET',
    path: '/api/sessions/:id/automation',
    summary: 'Returns the run that began a session; null if none did',
    response: z.object({ run: automationRun, event: automationEvent }).nullable(),
  }),
};
