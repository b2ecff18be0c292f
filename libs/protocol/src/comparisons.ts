import { z } from 'zod';
import { agentProgramName, newSessionAgent, ownAgent } from './agents.js';
import { pluralText } from './format.js';
import { modelName } from './models.js';
import { newSession, sessionSummary } from './session.js';

/** The maximum number of sessions in a comparison: they are shown side by side. */
export const maxCompared = 6;

const comparedAgent = newSessionAgent.extend({ model: modelName });

/** One task for several models, agents or runs; a session for each, with the same files and settings. */
export const newComparison = newSession
  .omit({ model: true })
  .extend({
    models: z
      .array(modelName)
      .max(maxCompared)
      .optional()
      .describe('The models, each named once; `runs` is the number of sessions for each.'),
    agents: z
      .array(comparedAgent)
      .max(maxCompared)
      .optional()
      .describe('In place of `agent` and `models`: several agents, each with its model.'),
    runs: z
      .int()
      .min(1)
      .max(maxCompared)
      .default(1)
      .describe('The number of sessions for each model or agent.'),
  })
  .superRefine(({ agent, agents, models, runs, workspace }, context) => {
    const add = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (agents && models) add('agents', 'leave out `models`: each agent has its own');
    if (agents && agent) add('agents', 'leave out `agent`: all of them are named here');
    if ([agent, ...(agents ?? [])].some((one) => one?.login))
      add(
        agents ? 'agents' : 'agent',
        'leave out `login`: one session at a time may use a sign-in',
      );
    const path = agents ? 'agents' : 'models';
    const names = comparedNames(competitorsOf({ agent, agents, models }));
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined)
      add(path, `${twice} is named twice; for several sessions of each set \`runs\``);
    const count = names.length * runs;
    if (count < 2 || count > maxCompared)
      add(path, `that makes ${pluralText(count, 'session')}; compare 2 to ${maxCompared}`);
    if (workspace === 'upload')
      add('workspace', 'upload it first with POST /api/workspaces: all sessions share one upload');
  });
export type NewComparison = z.input<typeof newComparison>;

/** What the sessions of a comparison differ in, apart from runs: the agent, undefined for Belay's own, and its model. */
export interface Competitor {
  agent: z.output<typeof newSessionAgent> | undefined;
  model: string;
}

/** The agents and models of a comparison, in the order in which their sessions are started. */
export const competitorsOf = ({
  agent,
  agents,
  models = [],
}: {
  agent?: z.output<typeof newSessionAgent> | undefined;
  agents?: readonly z.output<typeof comparedAgent>[] | undefined;
  models?: readonly string[] | undefined;
}): Competitor[] =>
  agents
    ? agents.map(({ model, ...one }) => ({ agent: one, model }))
    : models.map((model) => ({ agent, model }));

/** The names of compared sessions: their models, and before them their agents unless all are Belay's own. */
export function comparedNames(
  sessions: readonly { agent?: { name: string } | null | undefined; model: string }[],
): string[] {
  const all = sessions.map(({ agent, model }) => ({ name: agent?.name ?? ownAgent, model }));
  const areOwn = all.every(({ name }) => name === ownAgent);
  return all.map(({ name, model }) => (areOwn ? model : nameWith(name, model)));
}

const nameWith = (agent: string, model: string): string => `${agent} · ${model}`;

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
export const failedStart = z.object({
  agent: agentProgramName.default(ownAgent),
  model: z.string(),
  error: z.string(),
});
export type FailedStart = z.infer<typeof failedStart>;

/** The name of a session that could not be started. */
export const nameOfFailed = ({ agent, model }: FailedStart): string =>
  agent === ownAgent ? model : nameWith(agent, model);

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
