import { z } from 'zod';
import { blobId, isPlayedModel, modelName } from './models.js';

/** The progress of one attempt at a task. In `working` the agent works; Belay’s own agent does so in a session. */
export const trialState = z.enum(['queued', 'building', 'working', 'verifying', 'done']);
export type TrialState = z.infer<typeof trialState>;

export const trialOutcome = z.enum(['pass', 'fail', 'invalid']);
export type TrialOutcome = z.infer<typeof trialOutcome>;

/** One attempt at one task of a benchmark run, as the board shows it. */
export const evaluationTrial = z.object({
  task: z.string().min(1).max(500),
  attempt: z.int().positive(),
  state: trialState,
  session: z.string().nullable().describe('The session of the agent `model`.'),
  place: z
    .string()
    .max(200)
    .nullable()
    .default(null)
    .describe('Where its containers are, which decide the verdict; null while it waits.'),
  verdict: z
    .object({
      outcome: trialOutcome,
      cause: z.string().nullable(),
      reward: z.number(),
      detail: z.string().max(4_000),
    })
    .nullable(),
  seconds: z.object({ build: z.number(), agent: z.number(), verify: z.number() }),
  tokens: z.int().nonnegative(),
  dollars: z.number().nonnegative(),
  answer: blobId.nullable().describe('The agent’s answer: a diff, or the files.'),
  log: blobId.nullable().describe('The output of the tests.'),
});
export type EvaluationTrial = z.infer<typeof evaluationTrial>;

/** The parameters of a benchmark run. */
export const evaluationInfo = z.object({
  suite: z.string().min(1),
  agent: z.string().min(1),
  model: z.string().nullable(),
  tasks: z.array(z.string()).min(1),
  attempts: z.int().positive(),
  folder: z.string().describe('The folder with its results, which is authoritative.'),
  host: z.string(),
  created: z.iso.datetime({ offset: true }),
});
export type EvaluationInfo = z.infer<typeof evaluationInfo>;

/** The progress of a run, in the numbers of its own summary. */
export const evaluationProgress = z.object({
  state: z.enum(['running', 'finished', 'interrupted', 'failed']),
  phase: z
    .enum(['starting', 'preflight', 'trials'])
    .describe('`starting` until the run’s process sends its first report.'),
  checks: z
    .object({ done: z.int().nonnegative(), all: z.int().positive() })
    .nullable()
    .describe('Trials of the preflight while it is running.'),
  reason: z.string().nullable().describe('Why the run ended early, for the user.'),
  score: z
    .object({
      value: z.number().describe('Mean reward of the trials so far; invalid trials count as 0.'),
      interval: z.tuple([z.number(), z.number()]).describe('The 95% confidence interval.'),
      valid: z
        .number()
        .nullable()
        .describe('The same, only for tasks that the preflight found valid.'),
    })
    .nullable(),
  validity: z
    .object({
      checked: z.int().nonnegative(),
      flagged: z.array(z.object({ task: z.string(), why: z.string() })),
    })
    .nullable(),
});
export type EvaluationProgress = z.infer<typeof evaluationProgress>;

/**
 * Changes since the last report; an empty report is a heartbeat of the run. Each trial is sent
 * whole, so a report that is repeated after a lost connection changes nothing.
 */
export const evaluationChanges = z.object({
  epoch: z
    .int()
    .positive()
    .describe('Identifies the reporting process; reports of an older process are refused.'),
  trials: z.array(evaluationTrial).default([]),
  progress: evaluationProgress.optional(),
});
export type EvaluationChanges = z.infer<typeof evaluationChanges>;

/** One entry of the folder with benchmark data on the server’s machine. */
export const benchmarkDataEntry = z.object({
  name: z.string(),
  suite: z.string().nullable().describe('The suite that reads it; null if none does.'),
  tasks: z.int().nonnegative(),
  problem: z.string().nullable().describe('Why no suite reads it.'),
});
export type BenchmarkDataEntry = z.infer<typeof benchmarkDataEntry>;

/** The data that a run can be started with on the server. */
export const benchmarkData = z.object({
  folder: z.string().describe('The folder on the server’s machine, which its operator fills.'),
  entries: z.array(benchmarkDataEntry),
});
export type BenchmarkData = z.infer<typeof benchmarkData>;

/** The maximum numbers of a run that is started on the server. */
export const maxEvaluation = { sample: 100_000, attempts: 100, concurrency: 32 } as const;

const evaluationChoice = z.object({
  data: z.string().min(1).max(255).describe('The name of an entry of the folder with data.'),
  agent: z.enum(['model', 'oracle', 'nop']).default('model'),
  model: modelName
    .refine((name) => !isPlayedModel(name), 'a benchmark needs a model of a provider')
    .nullable()
    .default(null)
    .describe('For the agent `model`.'),
  sample: z
    .int()
    .positive()
    .max(maxEvaluation.sample)
    .nullable()
    .default(null)
    .describe('Only this many tasks, chosen at random; null for all.'),
  attempts: z.int().positive().max(maxEvaluation.attempts).default(1),
  concurrency: z.int().positive().max(maxEvaluation.concurrency).default(2),
  maxDollars: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .describe('No more trials are started once they have cost this much; null for no limit.'),
  preflight: z
    .boolean()
    .default(false)
    .describe('Checks tasks with the reference solution and with no change first.'),
});

/** A run to be started on the server. No field names anything of its machine but an entry of that one folder. */
export const newEvaluation = evaluationChoice.refine(
  ({ agent, model }) => (agent === 'model') === (model !== null),
  { message: 'the agent `model` needs a model, and no other agent takes one', path: ['model'] },
);
export type NewEvaluation = z.infer<typeof newEvaluation>;

/** How a run was started on the server. */
export const evaluationStart = evaluationChoice
  .omit({ agent: true, model: true, attempts: true })
  .extend({ by: z.string().describe('The label of the caller who started it.') });
export type EvaluationStart = z.infer<typeof evaluationStart>;

/** A run in one line. */
export const evaluationSummary = evaluationInfo
  .omit({ tasks: true })
  .extend(evaluationProgress.shape)
  .extend({
    id: z.string(),
    start: evaluationStart.optional().describe('Absent for a run that was started in a terminal.'),
    tasks: z.int().positive(),
    /** Counts the reports that changed trials. */
    seq: z.int().nonnegative(),
    reported: z.iso.datetime().describe('The time of its last report.'),
    begun: z.iso.datetime().nullable().describe('When this process started its first trial.'),
    doneBefore: z.int().nonnegative().describe('The number of trials that were done at that time.'),
    done: z.int().nonnegative(),
    outcomes: z.object({ pass: z.int(), fail: z.int(), invalid: z.int() }),
    tokens: z.int().nonnegative(),
    dollars: z.number().nonnegative(),
  });
export type EvaluationSummary = z.infer<typeof evaluationSummary>;

/** A run with the ids of its tasks, in their order. */
export const evaluation = z.object({ summary: evaluationSummary, tasks: z.array(z.string()) });
export type Evaluation = z.infer<typeof evaluation>;

/** The newest state of trials, up to and including the report `seq`. */
export const reportedTrials = z.object({
  seq: z.int().nonnegative(),
  trials: z.array(evaluationTrial),
});
export type ReportedTrials = z.infer<typeof reportedTrials>;

/** A run without reports for longer than this was killed, or cannot reach the server. */
export const evaluationSilenceMs = 45_000;

/** Where a run is on the dashboard. */
export const evaluationPath = (id: string): string => `/evaluations/${encodeURIComponent(id)}`;
