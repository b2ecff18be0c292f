import {
  maxEvaluation,
  type BenchmarkData,
  type BenchmarkDataEntry,
  type NewEvaluation,
} from '@belay/protocol';

/** Data with the suite that reads them. */
export type ReadableData = BenchmarkDataEntry & { suite: string };

export const readableIn = (data: BenchmarkData | undefined): ReadableData[] =>
  data?.entries.filter((entry): entry is ReadableData => entry.suite !== null) ?? [];

/** The values of the form; numbers are texts while they are typed. */
export interface RunForm {
  data: string;
  agent: NewEvaluation['agent'];
  model: string;
  /** Empty for all tasks. */
  sample: string;
  attempts: string;
  concurrency: string;
  /** Empty for no limit. */
  maxDollars: string;
  preflight: boolean;
}

export const emptyRun: RunForm = {
  data: '',
  agent: 'model',
  model: '',
  sample: '',
  attempts: '1',
  concurrency: '2',
  maxDollars: '',
  preflight: true,
};

/** The largest number that each field takes. */
export const limitsOf = ({ tasks }: ReadableData) => ({ ...maxEvaluation, sample: tasks });

export const requestOf = (form: RunForm, { name, tasks }: ReadableData): NewEvaluation => ({
  data: name,
  agent: form.agent,
  model: form.agent === 'model' ? form.model : null,
  sample: tasksOf(form, tasks) < tasks ? tasksOf(form, tasks) : null,
  attempts: Number(form.attempts),
  concurrency: Number(form.concurrency),
  maxDollars: form.agent === 'model' && form.maxDollars.trim() ? Number(form.maxDollars) : null,
  preflight: form.preflight,
});

/** The number of trials of the run, for valid values. */
export const trialsOf = (form: RunForm, { tasks }: ReadableData): number =>
  tasksOf(form, tasks) * Number(form.attempts);

const tasksOf = ({ sample }: RunForm, tasks: number): number =>
  sample.trim() === '' ? tasks : Number(sample);
