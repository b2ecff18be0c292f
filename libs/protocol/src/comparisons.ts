import { z } from 'zod';
import { modelName } from './models.js';
import { newSession, sessionSummary } from './session.js';

/** The maximum number of sessions in a comparison: they are shown side by side. */
export const maxCompared = 6;

/** One task for several models, or for several runs; a session for each, with the same files and settings. */
export const newComparison = newSession
  .omit({ model: true })
  .extend({
    models: z
      .array(modelName)
      .min(1)
      .max(maxCompared)
      .describe('The models, each named once; `runs` is the number of sessions for each.'),
    runs: z
      .int()
      .min(1)
      .max(maxCompared)
      .default(1)
      .describe('The number of sessions for each model.'),
  })
  .superRefine(({ models, runs, workspace }, context) => {
    const add = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const twice = models.find((model, index) => models.indexOf(model) !== index);
    if (twice !== undefined)
      add('models', `${twice} is named twice; for several sessions of each model set runs`);
    const count = models.length * runs;
    if (count < 2 || count > maxCompared)
      add('models', `that makes ${count} sessions; compare 2 to ${maxCompared}`);
    if (workspace === 'upload')
      add('workspace', 'upload it first with POST /api/workspaces: all sessions share one upload');
  });
export type NewComparison = z.input<typeof newComparison>;

const othersOfKept = z.array(
  z.object({
    session: z.string(),
    stopped: z.boolean().describe('Whether it was working and was stopped.'),
    archived: z.boolean().describe('Whether it was archived by the choice.'),
  }),
);

export const keptSession = z.object({
  session: z.string(),
  others: othersOfKept.describe('The changes to the other sessions, so that they can be undone.'),
});
export type KeptSession = z.infer<typeof keptSession>;

/** A session that could not be started. */
export const failedStart = z.object({ model: z.string(), error: z.string() });
export type FailedStart = z.infer<typeof failedStart>;

/** Sessions that work on the same task, side by side. */
export const comparison = z.object({
  id: z.string(),
  created: z.iso.datetime({ offset: true }),
  task: z.string(),
  check: z.string().nullable().describe('The command that runs in each sandbox at the end.'),
  sessions: z.array(sessionSummary).describe('In the order in which they were started.'),
  failed: z.array(failedStart).describe('The sessions that could not be started.'),
  kept: keptSession.nullable().describe('The session that was kept.'),
});
export type Comparison = z.infer<typeof comparison>;

export const keepRequest = z.object({ session: z.string().max(200) });
