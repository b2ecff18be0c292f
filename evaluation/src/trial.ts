import { AppError, type TrialState } from '@belay/protocol';
import type { Agent, Assignment, Bench, TaskImage } from './agents/agent.js';
import type { Submission } from './carry.js';
import type { Images } from './engine/images.js';
import {
  failed,
  invalid,
  passed,
  Unsupported,
  type Step,
  type Task,
  type Trial,
  type Verdict,
} from './model.js';
import { mean } from './statistics.js';
import { verify, type Verified } from './verify.js';

export interface TrialRequest {
  task: Task;
  agent: Agent;
  attempt: number;
  key: string;
  signal: AbortSignal;
  /** What it does from now on, and in which session. */
  onState?(state: TrialState, session: string | null): void;
}

export interface TrialRecorder {
  /** Called for each step and try, before the trial counts. */
  handedIn(name: string, submission: Submission): void;
  verified(name: string, verified: Verified): void;
  trajectory(steps: object): void;
}

/**
 * One attempt of one agent at one task: build, work, verify. Every outcome is a trial; only an abort throws.
 */
export async function runTrial(
  request: TrialRequest,
  { bench, images, recorder }: { bench: Bench; images: Images; recorder: TrialRecorder },
): Promise<Trial> {
  const { task, agent, attempt, key, signal, onState } = request;
  const trial: Trial = {
    key,
    suite: task.suite,
    task: task.id,
    attempt,
    agent: agent.name,
    model: agent.model,
    verdict: invalid('infrastructure', 'The trial did not end.'),
    session: null,
    tokens: 0,
    dollars: 0,
    seconds: { build: 0, agent: 0, verify: 0 },
    started: new Date().toISOString(),
  };
  const clock = stopwatch(trial.seconds, (phase) => onState?.(states[phase], trial.session));
  try {
    if (task.unsupported) throw new Unsupported(task.unsupported);
    const built = await clock('build', () => build(task, images, signal));
    const onSession = (session: string): void => {
      trial.session = session;
      onState?.('working', session);
    };
    const assignment = { ...bench, ...built, task, attempt, signal, onSession };
    await work({ agent, assignment, recorder, clock }, trial);
  } catch (error) {
    signal.throwIfAborted();
    trial.verdict = verdictOf(error);
  }
  return trial;
}

interface Course {
  agent: Agent;
  assignment: Assignment;
  recorder: TrialRecorder;
  clock: ReturnType<typeof stopwatch>;
}

async function work(course: Course, trial: Trial): Promise<void> {
  const { task } = course.assignment;
  const worker = await course.agent.begin(course.assignment);
  const steps: { name: string; verdict: Verdict }[] = [];
  try {
    for (const step of task.steps) {
      const tries: Verdict[] = [];
      let feedback: string | null = null;
      for (let attempt = 1; attempt <= task.tries && tries.at(-1)?.outcome !== 'pass'; attempt++) {
        const name = `${step.name}${attempt > 1 ? `.${attempt}` : ''}`;
        const submission = await course.clock('agent', () => worker.step(step, feedback));
        course.recorder.handedIn(name, submission);
        const verified = await course.clock('verify', () =>
          verify(course.assignment, step, submission),
        );
        course.recorder.verified(name, verified);
        tries.push(consideringAgent(verified.verdict, submission, step));
        feedback = verified.output.slice(-16_000);
        // Who does not look at the test output would hand in the same again.
        if (!course.agent.model) break;
      }
      if (task.tries > 1) trial.tries = tries;
      const verdict = tries.at(-1) ?? failed('No try was made.');
      steps.push({ name: step.name, verdict });
      if (verdict.outcome === 'invalid' || isBelow(verdict, step)) break;
    }
  } finally {
    await worker.end();
    Object.assign(trial, worker.spent());
  }
  const trajectory = await worker.trajectory?.();
  if (trajectory) course.recorder.trajectory(trajectory);
  if (task.steps.length > 1) trial.steps = steps;
  trial.verdict = together(
    task,
    steps.map(({ verdict }) => verdict),
  );
}

function consideringAgent(verdict: Verdict, { timedOut, broken }: Submission, step: Step): Verdict {
  if (verdict.outcome === 'pass') return verdict;
  if (broken) return invalid('agent_failed', broken);
  if (!timedOut) return verdict;
  const detail = `The agent was ended after ${step.limits.agent} s. ${verdict.detail}`;
  return { ...verdict, cause: 'agent_timeout', detail };
}

function isBelow({ rewards = {} }: Verdict, { minReward }: Step): boolean {
  return Object.entries(minReward ?? {}).some(
    ([key, least]) => (rewards[key] ?? Number.NEGATIVE_INFINITY) < least,
  );
}

/**
 * The verdict of a trial of several steps. Its rewards are Harbor's: of the last step that was made, or by key the
 * mean of the steps that have rewards. Only who made every step passes.
 */
function together({ steps, scoring }: Task, verdicts: Verdict[]): Verdict {
  const last = verdicts.at(-1) ?? failed('No step was made.');
  if (steps.length === 1) return last;
  const rewarded = verdicts.flatMap(({ rewards }) => (rewards ? [rewards] : []));
  const rewards = scoring === 'final' ? last.rewards : meansOf(rewarded);
  const reward = rewards?.reward ?? Object.values(rewards ?? {})[0] ?? 0;
  const broken = verdicts.find(({ outcome }) => outcome === 'invalid');
  if (broken) return { ...broken, rewards };
  const detail = `Rewards of the steps: ${verdicts.map(({ reward: each }) => each).join(', ')}.`;
  return reward >= 1 && verdicts.length === steps.length
    ? passed(detail, { reward, rewards })
    : failed(detail, 'wrong', { reward, rewards });
}

function meansOf(all: Record<string, number>[]): Record<string, number> | undefined {
  const keys = [...new Set(all.flatMap((rewards) => Object.keys(rewards)))];
  if (keys.length === 0) return undefined;
  return Object.fromEntries(
    keys.map((key) => [key, mean(all.map((rewards) => rewards[key] ?? 0))]),
  );
}

async function build(
  task: Task,
  images: Images,
  signal: AbortSignal,
): Promise<{ image: TaskImage; verifierImages: Map<string, TaskImage> }> {
  const limit = task.steps[0]?.limits.build ?? 600;
  const clock = AbortSignal.any([signal, AbortSignal.timeout(limit * 1000)]);
  const verifierImages = new Map<string, TaskImage>();
  try {
    const image = await images.ensure(task.environment.image, clock);
    for (const { name, verifier } of task.steps)
      if (verifier.environment)
        verifierImages.set(name, await images.ensure(verifier.environment.image, clock));
    return { image, verifierImages };
  } catch (error) {
    signal.throwIfAborted();
    if (clock.aborted)
      throw new AppError('invalid_input', `The build took longer than ${limit} s.`);
    throw error;
  }
}

/** Errors that are the task's own have a code; anything else is the machine's. */
function verdictOf(error: unknown): Verdict {
  if (error instanceof Unsupported) return invalid('unsupported', error.message);
  if (error instanceof AppError && error.code === 'invalid_input')
    return invalid('build_failed', error.message);
  if (error instanceof AppError && error.code === 'model_failed')
    return invalid('agent_failed', error.message);
  return invalid('infrastructure', error instanceof Error ? error.message : String(error));
}

type Phase = keyof Trial['seconds'];

const states: Record<Phase, TrialState> = {
  build: 'building',
  agent: 'working',
  verify: 'verifying',
};

function stopwatch(seconds: Trial['seconds'], onPhase: (phase: Phase) => void) {
  return async <T>(phase: Phase, during: () => Promise<T>): Promise<T> => {
    onPhase(phase);
    const begun = performance.now();
    try {
      return await during();
    } finally {
      seconds[phase] = Math.round(seconds[phase] * 1000 + performance.now() - begun) / 1000;
    }
  };
}
