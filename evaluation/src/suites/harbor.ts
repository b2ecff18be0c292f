import { AppError } from '@belay/protocol';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { folder, hashOf, type Entry } from '../entries.js';
import type { Check, Environment, ImageSource, Step, Task, Verifier } from '../model.js';
import {
  harborConfig,
  isSeparate,
  memoryOf,
  unsupportedOf,
  withDefaults,
  type HarborConfig,
  type HarborEnvironment,
  type HarborStep,
} from './harbor-config.js';
import { directoryHash } from './directory-hash.js';
import { judgeReward, writableRewards } from './harbor-reward.js';
import { labelsOf } from './labels.js';
import { pytestCheck, sealFiles, seedOf, withPytestPlugin } from './seal.js';
import { below, tasksOfFolders, textOf, type TaskFolder } from './reading.js';
import type { Suite } from './suite.js';

/** Harbor's task layout: Terminal-Bench 2 and others. */
export const harbor: Suite = {
  name: 'harbor',
  title: 'Harbor',
  read: (path) => tasksOfFolders({ suite: 'harbor', path, marker: 'task.toml' }, taskOf),
};

type Files = Map<string, Entry>;

function taskOf({ name, files }: TaskFolder): Task {
  const config = configOf(name, textOf(files, 'task.toml') ?? '');
  const own = config.steps.map((step) => step.verifier).find((each) => isSeparate(each));
  const separate = isSeparate(own ?? config.verifier) ?? false;
  const { environment, artifacts, steps } = config;
  const image = imageOf(files, 'environment/', environment);
  const sources = [...artifacts, ...steps.flatMap((step) => step.artifacts)].map((at) => at.source);
  const mode = config.agent.network_mode ?? environment.network_mode;
  return {
    suite: 'harbor',
    id: name,
    environment: environmentOf(
      { ...environment, network_mode: mode },
      image ?? { kind: 'build', files: [] },
    ),
    user: config.agent.user ?? null,
    artifacts: separate
      ? { kind: 'paths', paths: [...new Set(['/logs/artifacts', ...sources])] }
      : { kind: 'container' },
    scoring: config.multi_step_reward_strategy,
    tries: 1,
    labels: labelsOf(config.metadata),
    checksum: directoryHash(files.values()),
    content: hashOf('harbor', [...files.values()]),
    unsupported:
      unsupportedOf(config) ??
      (image ? null : 'It has neither environment/Dockerfile nor a docker_image.'),
    steps: (steps.length > 0 ? steps : [null]).map((step) =>
      stepOf(files, config, { step, separate }),
    ),
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
): ImageSource | null {
  const context = below(files, prefix);
  if (context.some(({ path }) => path === 'Dockerfile')) return { kind: 'build', files: context };
  return name ? { kind: 'image', name } : null;
}

/** A list of allowed hosts cannot be held here, so it means no network. */
function environmentOf(given: HarborEnvironment, image: ImageSource): Environment {
  const mode = given.network_mode ?? (given.allow_internet === false ? 'no-network' : 'public');
  return {
    image,
    cpus: given.cpus,
    memoryMb: memoryOf(given),
    workdir: given.workdir ?? null,
    env: withDefaults(given.env),
    network: mode === 'public' ? 'bridge' : 'none',
    healthcheck: given.healthcheck,
  };
}

/** The verifier's own image: of the step's tests, of the task's, or the one that is named. */
function verifierEnvironment(
  files: Files,
  config: HarborConfig,
  step: HarborStep | null,
): Environment {
  const given = step?.verifier.environment ?? config.verifier.environment ?? config.environment;
  const mode = step?.verifier.network_mode ?? config.verifier.network_mode ?? given.network_mode;
  const image = imageOf(files, testsImage(files, step) ?? 'environment/', given);
  return environmentOf({ ...given, network_mode: mode }, image ?? { kind: 'build', files: [] });
}

/** The folder of tests that is an image of its own, and then has the tests in it. */
const testsImage = (files: Files, step: HarborStep | null): string | undefined =>
  [...(step ? [`steps/${step.name}/tests/`] : []), 'tests/'].find((prefix) =>
    files.has(`${prefix}Dockerfile`),
  );

function stepOf(
  files: Files,
  config: HarborConfig,
  { step, separate }: { step: HarborStep | null; separate: boolean },
): Step {
  const prefix = step ? `steps/${step.name}/` : '';
  const tests = [...below(files, 'tests/'), ...(step ? below(files, `${prefix}tests/`) : [])];
  const usesPytest = tests.some(
    ({ path, bytes }) => path === 'test.sh' && /\bpytest\b/.test(bytes.toString()),
  );
  const writable = writableRewards(tests);
  const verifier: Verifier = {
    ...(separate && { environment: verifierEnvironment(files, config, step) }),
    files: [
      ...['/logs', '/logs/agent', '/logs/artifacts'].map((path) => folder(path)),
      ...(separate && testsImage(files, step)
        ? []
        : [folder('/tests'), ...tests.map(at('/tests'))]),
      ...(usesPytest ? sealFiles('belay_seal.py') : []),
    ],
    folders: ['/logs/verifier'],
    command: usesPytest ? withPytestPlugin(['bash', '/tests/test.sh']) : ['bash', '/tests/test.sh'],
    sealed: usesPytest,
    env: {
      ...withDefaults(config.verifier.env),
      ...withDefaults(step?.verifier.env ?? {}),
    },
    user: step?.verifier.user ?? config.verifier.user ?? null,
    collect: ['reward.json', 'reward.txt', 'ctrf.json'].map((name) => `/logs/verifier/${name}`),
    judge: (outcome) => judgeReward(outcome, { usesPytest, writable }),
  };
  return {
    name: step?.name ?? 'solve',
    instruction: textOf(files, `${prefix}instruction.md`) ?? '',
    files: step ? below(files, `${prefix}workdir/`) : [],
    ...(step && { setup: 'setup.sh', healthcheck: step.healthcheck }),
    oracle: {
      kind: 'script',
      files: below(files, `${prefix}solution/`).map(at('/solution')),
      command: ['bash', '/solution/solve.sh'],
      env: withDefaults(config.solution.env),
    },
    verifier: { ...verifier, check: usesPytest ? pytestCheck(verifier) : againWith(verifier) },
    limits: {
      build: config.environment.build_timeout_sec,
      agent: step?.agent.timeout_sec ?? config.agent.timeout_sec ?? noLimit,
      verify: step?.verifier.timeout_sec ?? config.verifier.timeout_sec ?? 600,
    },
    minReward:
      typeof step?.min_reward === 'number'
        ? { reward: step.min_reward }
        : (step?.min_reward ?? null),
  };
}

/** Of a script without pytest only the verdict is compared. */
const againWith =
  (verifier: Verifier) =>
  (word: string): Check => ({
    verifier: { ...verifier, env: { ...verifier.env, PYTHONHASHSEED: String(seedOf(word)) } },
    decoys: 0,
    honest: null,
  });

/** Harbor has none without `timeout_sec`; a day ends what would never end. */
const noLimit = 86_400;

const at = (base: string) => (entry: Entry) => ({ ...entry, path: `${base}/${entry.path}` });
