import type { Submission } from '../carry.js';
import type { Engine, ImageFacts } from '../engine/engine.js';
import { folder, ownedBy, under, type Entry } from '../entries.js';
import type { Step, Task } from '../model.js';

export type TaskImage = ImageFacts & { name: string };

export interface Bench {
  engine: Engine;
  /** The run that containers belong to. */
  run: string;
  /** `declared` gives a task the network that it asks for; the default is none. */
  network: 'none' | 'declared';
}

export interface Assignment extends Bench {
  task: Task;
  image: TaskImage;
  /** By the name of the step, where its verifier has an environment of its own. */
  verifierImages: Map<string, TaskImage>;
  attempt: number;
  signal: AbortSignal;
  /** Told once the agent works in a session of the platform. */
  onSession?(session: string): void;
}

/** What an agent spent on a trial. */
export interface Spent {
  session: string | null;
  tokens: number;
  dollars: number;
}

/** One agent at work on one trial. Steps come one after the other; `end` is always called. */
export interface Work {
  /** What it did, in the format of trajectory.json; asked for after `end`. */
  trajectory?(): Promise<object | null>;
  /** Works within the step's limit and hands in; nothing of it runs any more when this resolves. */
  step(step: Step, feedback: string | null): Promise<Submission>;
  spent(): Spent;
  end(): Promise<void>;
}

export interface Agent {
  /** Part of the key of a trial: two agents of one name do the same. */
  name: string;
  model: string | null;
  begin(assignment: Assignment): Promise<Work>;
}

export const free: Spent = { session: null, tokens: 0, dollars: 0 };

export const workdirOf = ({ task, image }: Pick<Assignment, 'task' | 'image'>): string =>
  task.environment.workdir ?? image.workdir;

/** What lies in the working folder before an agent works. An image's own folder keeps its owner. */
export function startingFiles(assignment: Pick<Assignment, 'task' | 'image'>, step: Step): Entry[] {
  const { carries, user } = assignment.task;
  const workdir = workdirOf(assignment);
  const isOurs = carries.kind === 'files' || (carries.kind === 'patch' && step.files.length > 0);
  const root = isOurs ? ownedBy([folder(workdir)], Number(user ?? 0)) : [];
  return [...root, ...under(workdir, step.files)];
}
