import { AppError } from '@belay/protocol';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { folderEntry, contentHash, type Entry } from '../entries.js';
import type { SecondRun, TaskEnvironment, ImageSource, Step, Task, Verifier } from '../model.js';
import {
  harborConfig,
  isSeparate,
  memoryOf,
  stepsOf,
  unsupportedOf,
  withDefaults,
  type HarborConfig,
  type HarborEnvironment,
  type HarborStep,
} from './harbor-config.js';
import { directoryHash } from './directory-hash.js';
import { packageDigest } from './harbor-package.js';
import { judgeReward, writableRewards } from './harbor-reward.js';
import { labelsOf } from './labels.js';
import { pytestCheck, sealFiles, seedOf, withPytestPlugin } from './seal.js';
import { entriesBelow, tasksOfFolders, fileText, type TaskFolder } from './reading.js';
import type { Suite } from './suite.js';

/** Harbor's task layout, used by Terminal-Bench 2 and others. */
export const harbor: Suite = {
  name: 'harbor',
  title: 'Harbor',
  read: (path) => tasksOfFolders({ suite: 'harbor', path, marker: 'task.toml' }, taskOf),
};

type Files = Map<string, Entry>;

function taskOf({ name, path, files }: TaskFolder): Task {
  const config = configOf(name, fileText(files, 'task.toml') ?? '');
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
    package: {
      folder: path,
      name: config.task?.name ?? null,
      version: config.task?.version ?? null,
      digest: packageDigest(files.values()),
      checksum: directoryHash(files.values()),
    },
    content: contentHash('harbor', [...files.values()]),
    unsupported:
      unsupportedOf(config) ??
      (image ? null : 'It has neither environment/Dockerfile nor a docker_image.'),
    steps: stepsOf(config).map((step) => stepOf(files, config, { step, separate })),
  };
}

function configOf(name: string, toml: string): HarborConfig {
  const found = harborConfig.safeParse(parse(toml));
  if (found.success) return found.data;
  throw new AppError('invalid_input', `${name}/task.toml: ${z.prettifyError(found.error)}`);
}

/** The build context takes precedence over a named image, which may only exist on a hub. */
function imageOf(
  files: Files,
  prefix: string,
  { docker_image: name }: HarborEnvironment,
): ImageSource | null {
  const context = entriesBelow(files, prefix);
  if (context.some(({ path }) => path === 'Dockerfile')) return { kind: 'build', files: context };
  return name ? { kind: 'image', name } : null;
}

/** A list of allowed hosts cannot be enforced here, so it means no network. */
function environmentOf(given: HarborEnvironment, image: ImageSource): TaskEnvironment {
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

/**
 * The verifier's own environment, with the image of the step's tests, of the task's tests, or the
 * named one.
 */
function verifierEnvironment(
  files: Files,
  { environment: main }: HarborConfig,
  { verifier, ...step }: HarborStep,
): TaskEnvironment {
  const given = verifier.environment ?? main;
  const image = imageOf(files, testsImage(files, step) ?? 'environment/', given);
  return environmentOf(
    { ...given, network_mode: verifier.network_mode ?? given.network_mode },
    image ?? { kind: 'build', files: [] },
  );
}

/** The folder of tests that has its own Dockerfile; the image built from it contains the tests. */
const testsImage = (files: Files, { folders }: Pick<HarborStep, 'folders'>): string | undefined =>
  folders.map((path) => `${path}tests/`).findLast((path) => files.has(`${path}Dockerfile`));

function stepOf(
  files: Files,
  config: HarborConfig,
  { step, separate }: { step: HarborStep; separate: boolean },
): Step {
  const own = step.folders.at(-1) ?? '';
  const { verifier } = step;
  return {
    name: step.name,
    instruction: fileText(files, `${own}instruction.md`) ?? '',
    files: [],
    ...(own && {
      files: entriesBelow(files, `${own}workdir/`),
      setup: 'setup.sh',
      healthcheck: step.healthcheck,
    }),
    oracle: {
      kind: 'script',
      files: entriesBelow(files, `${own}solution/`).map(at('/solution')),
      command: ['bash', '/solution/solve.sh'],
      env: withDefaults(config.solution.env),
    },
    verifier: verifierOf(files, step, separate && verifierEnvironment(files, config, step)),
    limits: {
      build: config.environment.build_timeout_sec,
      agent: step.agent.timeout_sec ?? noLimit,
      verify: verifier.timeout_sec ?? 600,
    },
    minReward: step.min_reward ?? null,
  };
}

/** `environment` is the verifier's own; false if it has none. */
function verifierOf(
  files: Files,
  step: HarborStep,
  environment: TaskEnvironment | false,
): Verifier {
  const tests = step.folders.flatMap((path) => entriesBelow(files, `${path}tests/`));
  const usesPytest = tests.some(
    ({ path, bytes }) => path === 'test.sh' && /\bpytest\b/.test(bytes.toString()),
  );
  const writable = writableRewards(tests);
  const command = ['bash', '/tests/test.sh'];
  const hasTests = environment && testsImage(files, step);
  const verifier: Verifier = {
    ...(environment && { environment }),
    files: [
      ...['/logs', '/logs/agent', '/logs/artifacts'].map((path) => folderEntry(path)),
      ...(hasTests ? [] : [folderEntry('/tests'), ...tests.map(at('/tests'))]),
      ...(usesPytest ? sealFiles('belay_seal.py') : []),
    ],
    folders: ['/logs/verifier'],
    command: usesPytest ? withPytestPlugin(command) : command,
    sealed: usesPytest,
    env: withDefaults(step.verifier.env),
    user: step.verifier.user ?? null,
    collect: ['reward.json', 'reward.txt', 'ctrf.json'].map((name) => `/logs/verifier/${name}`),
    judge: (outcome) => judgeReward(outcome, { usesPytest, writable }),
  };
  return { ...verifier, check: usesPytest ? pytestCheck(verifier) : againWith(verifier) };
}

/** Without pytest, only the verdicts are compared. */
const againWith =
  (verifier: Verifier) =>
  (word: string): SecondRun => ({
    verifier: { ...verifier, env: { ...verifier.env, PYTHONHASHSEED: String(seedOf(word)) } },
    decoys: 0,
    honest: null,
  });

/** Harbor has no limit without `timeout_sec`; a day ends a run that would never end. */
const noLimit = 86_400;

const at = (base: string) => (entry: Entry) => ({ ...entry, path: `${base}/${entry.path}` });
