import { AppError, type TrialState } from '@belay/protocol';
import type { Agent, AgentInstance, RunContext, TaskImage, TrialContext } from './agents/agent.js';
import { withServices } from './agents/with-services.js';
import type { Artifacts } from './artifacts.js';
import type { Images } from './engine/images.js';
import {
  fail,
  invalid,
  pass,
  Unsupported,
  type Step,
  type Task,
  type Trial,
  type Verdict,
} from './model.js';
import { Refused } from './refused.js';
import { mean } from './statistics.js';
import type { References } from './references.js';
import { verify, type Verification } from './verify.js';

export interface TrialRequest {
  task: Task;
  agent: Agent;
  attempt: number;
  key: string;
  signal: AbortSignal;
}

/** Lifecycle hooks, as in Harbor's trials; each is called before the next phase begins. */
export interface TrialHooks {
  /** Called when a phase begins, and when the agent's session is known. */
  onState?(state: TrialState, session: string | null): void;
  /** Called for each step and try. */
  onAgentEnd?(name: string, artifacts: Artifacts): void;
  onVerifierEnd?(name: string, verification: Verification): void;
  onTrajectory?(steps: object): void;
}

/**
 * One attempt of one agent at one task, in the phases `environment`, `agent` and `verifier`. Every
 * outcome is a trial; rejects only when the signal is aborted.
 */
export async function runTrial(
  request: TrialRequest,
  { place, runContext, references, images, hooks }: TrialEnvironment,
): Promise<Trial> {
  const { task, agent, attempt, key, signal } = request;
  const trial: Trial = {
    key,
    suite: task.suite,
    task: task.id,
    attempt,
    agent: agent.name,
    model: agent.model,
    verdict: invalid('infrastructure', 'The trial did not finish.'),
    session: null,
    place,
    tokens: 0,
    dollars: 0,
    seconds: { build: 0, agent: 0, verify: 0 },
    started: new Date().toISOString(),
  };
  const inPhase = phaseTimer(trial.seconds, (state) => hooks.onState?.(state, trial.session));
  try {
    if (task.unsupported) throw new Unsupported(task.unsupported);
    const built = await inPhase('environment', async () => {
      const made = await buildImages(task, images, signal);
      await provideAll(made, { ...runContext, signal });
      return made;
    });
    trial.image = { name: built.image.name, id: built.image.id };
    const onSession = (session: string): void => {
      trial.session = session;
      hooks.onState?.('working', session);
    };
    const context = { ...runContext, ...built, task, attempt, signal, onSession };
    await withServices(context, (own) =>
      runSteps({ agent, context: own, references, hooks, inPhase }, trial),
    );
  } catch (error) {
    signal.throwIfAborted();
    trial.verdict = verdictOf(error);
  }
  return trial;
}

/** State shared by the trials of a run. */
export interface TrialEnvironment {
  /** The name of the place that `runContext` leads to. */
  place: string;
  runContext: RunContext;
  /** Null for baselines, which are not compared with the reference. */
  references: References | null;
  images: Images;
  hooks: TrialHooks;
}

/** A trial whose environment is ready. */
interface ReadyTrial {
  agent: Agent;
  context: TrialContext;
  references: References | null;
  hooks: TrialHooks;
  inPhase: ReturnType<typeof phaseTimer>;
}

async function runSteps(ready: ReadyTrial, trial: Trial): Promise<void> {
  const { agent, context, hooks } = ready;
  const { task } = context;
  const instance = await agent.setup(context);
  const steps: { name: string; verdict: Verdict }[] = [];
  try {
    for (const step of task.steps) {
      const tries = await runTries(ready, instance, step);
      if (task.tries > 1) trial.tries = tries;
      const verdict = tries.at(-1) ?? fail('No try was made.');
      steps.push({ name: step.name, verdict });
      if (verdict.outcome === 'invalid' || isBelow(verdict, step)) break;
    }
  } finally {
    await instance.stop();
    Object.assign(trial, instance.usage());
  }
  const trajectory = await instance.trajectory?.();
  if (trajectory) hooks.onTrajectory?.(trajectory);
  if (task.steps.length > 1) trial.steps = steps;
  trial.verdict = together(
    task,
    steps.map(({ verdict }) => verdict),
  );
}

async function runTries(
  { agent, context, references, hooks, inPhase }: ReadyTrial,
  instance: AgentInstance,
  step: Step,
): Promise<Verdict[]> {
  const tries: Verdict[] = [];
  let feedback: string | null = null;
  for (let at = 1; at <= context.task.tries && tries.at(-1)?.outcome !== 'pass'; at++) {
    const name = `${step.name}${at > 1 ? `.${at}` : ''}`;
    const artifacts = await inPhase('agent', () => instance.run(step, feedback));
    hooks.onAgentEnd?.(name, artifacts);
    const verification = await inPhase('verifier', () => verify(context, step, artifacts));
    hooks.onVerifierEnd?.(name, verification);
    const { verdict } = verification;
    const named = (await references?.heldAgainst(verdict, context, step)) ?? verdict;
    const held = (await references?.heldTwice(named, { context, step, artifacts })) ?? named;
    tries.push(consideringAgent(held, artifacts, step));
    feedback = verification.output.slice(-16_000);
    // An agent without a model ignores the test output and would produce the same artifacts.
    if (!agent.model) break;
  }
  return tries;
}

function consideringAgent(verdict: Verdict, { timedOut, broken }: Artifacts, step: Step): Verdict {
  if (verdict.outcome === 'pass') return verdict;
  if (broken) return invalid('agent_failed', broken);
  if (!timedOut) return verdict;
  const detail = `The agent was stopped after ${step.limits.agent} s. ${verdict.detail}`;
  return { ...verdict, cause: 'agent_timeout', detail };
}

function isBelow({ rewards = {} }: Verdict, { minReward }: Step): boolean {
  return Object.entries(minReward ?? {}).some(
    ([key, least]) => (rewards[key] ?? Number.NEGATIVE_INFINITY) < least,
  );
}

/**
 * The verdict of a trial with several steps. Rewards are Harbor's: those of the last step that ran,
 * or for each key the mean over the steps that have rewards. Only a trial in which every step ran
 * passes.
 */
function together({ steps, scoring }: Task, verdicts: Verdict[]): Verdict {
  const last = verdicts.at(-1) ?? fail('No step was made.');
  if (steps.length === 1) return last;
  const rewarded = verdicts.flatMap(({ rewards }) => (rewards ? [rewards] : []));
  const rewards = scoring === 'final' ? last.rewards : meansOf(rewarded);
  const written = rewards?.reward ?? Object.values(rewards ?? {})[0] ?? 0;
  const reward = Math.min(Math.max(written, 0), 1);
  const broken = verdicts.find(({ outcome }) => outcome === 'invalid');
  if (broken) return { ...broken, rewards };
  const detail = `Rewards of the steps: ${verdicts.map(({ reward: each }) => each).join(', ')}.`;
  return reward >= 1 && verdicts.length === steps.length
    ? pass(detail, { reward, rewards })
    : fail(detail, 'wrong', { reward, rewards });
}

function meansOf(all: Record<string, number>[]): Record<string, number> | undefined {
  const keys = [...new Set(all.flatMap((rewards) => Object.keys(rewards)))];
  if (keys.length === 0) return undefined;
  return Object.fromEntries(
    keys.map((key) => [key, mean(all.map((rewards) => rewards[key] ?? 0))]),
  );
}

type BuiltImages = Pick<TrialContext, 'image' | 'verifierImages' | 'serviceImages'>;

async function buildImages(task: Task, images: Images, signal: AbortSignal): Promise<BuiltImages> {
  const limit = task.steps[0]?.limits.build ?? 600;
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(limit * 1000))]);
  const verifierImages = new Map<string, TaskImage>();
  const serviceImages = new Map<string, TaskImage>();
  try {
    const image = await images.ensure(task.environment.image, deadline);
    for (const { name, verifier } of task.steps)
      if (verifier.environment)
        verifierImages.set(name, await images.ensure(verifier.environment.image, deadline));
    for (const { name, image: source } of task.environment.services ?? [])
      serviceImages.set(name, await images.ensure(source, deadline));
    return { image, verifierImages, serviceImages };
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.aborted)
      throw new AppError('invalid_input', `The build took longer than ${limit} s.`);
    throw error;
  }
}

/** Makes a trial’s images usable where its containers will be. */
async function provideAll(
  { image, verifierImages, serviceImages }: BuiltImages,
  { host, engine, signal }: Pick<TrialContext, 'engine' | 'host' | 'signal'>,
): Promise<void> {
  for (const each of [image, ...verifierImages.values(), ...serviceImages.values()])
    await host.provide(each, engine, signal);
}

/**
 * Errors of the task or the agent have a code; anything else is a failure of the infrastructure.
 */
function verdictOf(error: unknown): Verdict {
  if (error instanceof Refused || (error instanceof AppError && error.code === 'too_large'))
    return fail(error.message, 'agent_failed');
  if (error instanceof Unsupported) return invalid('unsupported', error.message);
  if (error instanceof AppError && error.code === 'invalid_input')
    return invalid('build_failed', error.message);
  if (error instanceof AppError && error.code === 'model_failed')
    return invalid('agent_failed', error.message);
  return invalid('infrastructure', error instanceof Error ? error.message : String(error));
}

type Phase = 'environment' | 'agent' | 'verifier';

/** The state that the board shows during a phase, and its key in the `seconds` of the results. */
const phases: Record<Phase, { state: TrialState; key: keyof Trial['seconds'] }> = {
  environment: { state: 'building', key: 'build' },
  agent: { state: 'working', key: 'agent' },
  verifier: { state: 'verifying', key: 'verify' },
};

/** Runs the work of a phase and adds its duration to `seconds`. */
function phaseTimer(seconds: Trial['seconds'], onState: (state: TrialState) => void) {
  return async <T>(phase: Phase, work: () => Promise<T>): Promise<T> => {
    const { state, key } = phases[phase];
    onState(state);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      seconds[key] = Math.round(seconds[key] * 1000 + performance.now() - startedAt) / 1000;
    }
  };
}
