import { AppError } from '@belay/protocol';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { folder, hashOf, type Entry } from '../entries.js';
import type { Environment, ImageSource, Step, Task } from '../model.js';
import {
  harborConfig,
  memoryOf,
  type HarborConfig,
  type HarborEnvironment,
} from './harbor-config.js';
import { judgeReward, pytestReport } from './harbor-reward.js';
import { below, readFolders, textOf, type TaskFolder } from './reading.js';
import type { Suite } from './suite.js';

/** Harbor's task layout: Terminal-Bench 2 and others. */
export const harbor: Suite = {
  name: 'harbor',
  title: 'Harbor',
  read: (path) => readFolders(path, 'task.toml').map(taskOf),
};

type Files = Map<string, Entry>;

function taskOf({ name, files }: TaskFolder): Task {
  const config = configOf(name, textOf(files, 'task.toml') ?? '');
  const separate = config.verifier.environment_mode === 'separate';
  const steps =
    config.steps.length > 0
      ? config.steps.map((step) => stepOf(files, config, step))
      : [stepOf(files, config, null)];
  return {
    suite: 'harbor',
    id: name,
    environment: environmentOf(
      config.environment,
      imageOf(files, 'environment/', config.environment),
    ),
    user: config.agent.user ?? null,
    carries: separate
      ? { kind: 'artifacts', paths: ['/logs/artifacts', ...config.artifacts] }
      : { kind: 'container' },
    scoring: config.multi_step_reward_strategy,
    tries: 1,
    content: hashOf('harbor', [...files.values()]),
    steps,
  };
}

function configOf(name: string, toml: string): HarborConfig {
  const found = harborConfig.safeParse(parse(toml));
  if (found.success) return found.data;
  throw new AppError('invalid_input', `${name}/task.toml: ${z.prettifyError(found.error)}`);
}

/** The build context comes before a named image: that one is on a hub. */
function imageOf(
  files: Files,
  prefix: string,
  { docker_image: name }: HarborEnvironment,
): ImageSource {
  const context = below(files, prefix);
  if (context.some(({ path }) => path === 'Dockerfile')) return { kind: 'build', files: context };
  if (name) return { kind: 'image', name };
  throw new AppError('invalid_input', `A task has neither ${prefix}Dockerfile nor a docker_image.`);
}

function environmentOf(given: HarborEnvironment, image: ImageSource): Environment {
  const closed = given.network_mode === 'no-network' || given.allow_internet === false;
  return {
    image,
    cpus: given.cpus,
    memoryMb: memoryOf(given),
    workdir: given.workdir ?? null,
    env: given.env,
    network: closed ? 'none' : 'bridge',
  };
}

function stepOf(
  files: Files,
  config: HarborConfig,
  step: HarborConfig['steps'][number] | null,
): Step {
  const prefix = step ? `steps/${step.name}/` : '';
  const separate = config.verifier.environment_mode === 'separate';
  const tests = [...below(files, 'tests/'), ...(step ? below(files, `${prefix}tests/`) : [])];
  const usesPytest = /\bpytest\b/.test(
    tests.find(({ path }) => path === 'test.sh')?.bytes.toString() ?? '',
  );
  const own = config.verifier.environment ?? config.environment;
  return {
    name: step?.name ?? 'solve',
    instruction: textOf(files, `${prefix}instruction.md`) ?? '',
    files: step ? below(files, `${prefix}workdir/`) : [],
    oracle: {
      kind: 'script',
      files: below(files, `${prefix}solution/`).map(at('/solution')),
      command: ['bash', '/solution/solve.sh'],
      env: config.solution.env,
    },
    verifier: {
      ...(separate && { environment: environmentOf(own, imageOf(files, 'tests/', own)) }),
      files: [
        ...['/logs', '/logs/agent', '/logs/artifacts'].map((path) => folder(path)),
        ...(separate ? [] : [folder('/tests'), ...tests.map(at('/tests'))]),
      ],
      folders: ['/logs/verifier', '/verify-{proof}'],
      command: ['bash', '/tests/test.sh'],
      env: {
        ...config.verifier.env,
        ...step?.verifier.env,
        ...(usesPytest && { PYTEST_ADDOPTS: `--junitxml=${pytestReport}` }),
      },
      user: step?.verifier.user ?? config.verifier.user ?? null,
      collect: ['/logs/verifier/reward.json', '/logs/verifier/reward.txt', pytestReport],
      judge: (outcome) => judgeReward(outcome, { usesPytest }),
    },
    limits: {
      build: config.environment.build_timeout_sec,
      agent: step?.agent.timeout_sec ?? config.agent.timeout_sec ?? 600,
      verify: step?.verifier.timeout_sec ?? config.verifier.timeout_sec ?? 600,
    },
    minReward: typeof step?.min_reward === 'number' ? step.min_reward : null,
  };
}

const at = (base: string) => (entry: Entry) => ({ ...entry, path: `${base}/${entry.path}` });
