import { AppError, type TrialState } from '@belay/protocol';
import type { Agent, Assignment, Bench, TaskImage } from './agents/agent.js';
import type { Submission } from './carry.js';
import type { Images } from './engine/images.js';
import { failed, invalid, type Step, type Task, type Trial, type Verdict } from './model.js';
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
      if (step.minReward !== null && verdict.reward < step.minReward) break;
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

/** The verdict of a trial of several steps: the mean of the steps that there are, or the last one. */
function together({ steps, scoring }: Task, verdicts: Verdict[]): Verdict {
  const last = verdicts.at(-1) ?? failed('No step was made.');
  if (steps.length === 1) return last;
  const whole = verdicts.length === steps.length;
  const sum = verdicts.reduce((total, { reward }) => total + reward, 0);
  const reward = scoring === 'final' ? (whole ? last.reward : 0) : sum / steps.length;
  const broken = verdicts.find(({ outcome }) => outcome === 'invalid');
  const detail = `Rewards of the steps: ${verdicts.map(({ reward: each }) => each).join(', ')}.`;
  if (broken) return { ...broken, reward };
  return reward >= 1
    ? { outcome: 'pass', cause: null, reward, detail }
    : { ...failed(detail), reward };
}

async function build(
  task: Task,
  images: Images,
  signal: AbortSignal,
): Promise<{ image: TaskImage; verifierImage: TaskImage | null }> {
  const limit = task.steps[0]?.limits.build ?? 600;
  const clock = AbortSignal.any([signal, AbortSignal.timeout(limit * 1000)]);
  const own = task.steps[0]?.verifier.environment;
  try {
    return {
      image: await images.ensure(task.environment.image, clock),
      verifierImage: own ? await images.ensure(own.image, clock) : null,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (clock.aborted)
      throw new AppError('invalid_input', `The build took longer than ${limit} s.`);
    throw error;
  }
}

/** Errors that are the task's own have a code; anything else is the machine's. */
function verdictOf(error: unknown): Verdict {
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
