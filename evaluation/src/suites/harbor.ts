import { AppError } from '@belay/protocol';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { folderEntry, contentHash, type Entry } from '../entries.js';
import {
  type ArtifactPath,
  type CollectCommand,
  type ImageSource,
  type SecondRun,
  type Step,
  type Task,
  type TaskEnvironment,
  type TaskNetwork,
  type Verifier,
  Unsupported,
} from '../model.js';
import {
  harborConfig,
  isSeparate,
  memoryOf,
  stepsOf,
  withDefaults,
  type HarborCollect,
  type HarborConfig,
  type HarborEnvironment,
  type HarborStep,
} from './harbor-config.js';
import { publishedArtifacts } from './artifact-paths.js';
import { datasetAt, packageAt, readDataset } from './harbor-dataset.js';
import { networkOf } from './harbor-network.js';
import { packageOf } from './harbor-package.js';
import { harborRefusal } from './harbor-refusals.js';
import { harborServices } from './harbor-services.js';
import { judgeReward, writableRewards } from './harbor-reward.js';
import { labelsOf } from './labels.js';
import { pytestChecks, sealFiles, seedOf, withPytestPlugin } from './seal.js';
import { tasksFrom } from './readable-tasks.js';
import { entriesBelow, tasksOfFolders, fileText, type TaskFolder } from './reading.js';
import type { Suite } from './suite.js';

/** Harbor's task layout, used by Terminal-Bench 2 to 4, SWE-bench Pro V2, DeepSWE and others. */
export const harbor: Suite = {
  name: 'harbor',
  title: 'Harbor',
  read: (path, note) => {
    const folder = packageAt(path);
    const dataset = datasetAt(folder);
    return dataset
      ? tasksFrom({ suite: 'harbor', path }, readDataset(dataset, note), taskOf)
      : tasksOfFolders({ suite: 'harbor', path: folder, marker: 'task.toml' }, taskOf);
  },
};

type Files = Map<string, Entry>;

function taskOf({ name, path, files }: TaskFolder): Task {
  const config = configOf(name, fileText(files, 'task.toml') ?? '');
  const own = config.steps.map((step) => step.verifier).find((each) => isSeparate(each));
  const separate = isSeparate(own ?? config.verifier) ?? false;
  const { environment, artifacts, steps } = config;
  const { user = null, ...agent } = stepsOf(config)[0]?.agent ?? config.agent;
  const image = imageOf(files, 'environment/', environment);
  const declared = [...artifacts, ...steps.flatMap((step) => step.artifacts)].map(inMain);
  const main = environmentOf(environment, image ?? { kind: 'build', files: [] });
  const beside = servicesOf(files, main);
  return {
    suite: 'harbor',
    id: name,
    environment: {
      ...main,
      ...beside.services,
      env: { ...beside.env, ...main.env },
      network: networkOf(agent, environment),
    },
    user,
    artifacts: separate ? { kind: 'paths', paths: withPublished(declared) } : { kind: 'container' },
    scoring: config.multi_step_reward_strategy,
    tries: 1,
    labels: labelsOf(config.metadata),
    package: packageOf(path, files, config.task),
    content: contentHash('harbor', [...files.values()]),
    unsupported:
      beside.fault ??
      harborRefusal(
        config,
        files,
        beside.services.services.map(({ name: of }) => of),
      ) ??
      (image ? null : 'It has neither environment/Dockerfile nor a docker_image.'),
    steps: stepsOf(config).map((step) => stepOf(files, config, { step, separate })),
  };
}

/** What the compose file adds, or why it cannot be done. */
function servicesOf(files: Files, main: TaskEnvironment) {
  try {
    const { env, ...services } = harborServices(files, main);
    return { services, env, fault: null };
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    return { services: { services: [], needs: {} }, env: {}, fault: error.message };
  }
}

/** Only files and commands of other services name theirs. */
const inMain = <Given extends { service: string }>({ service, ...given }: Given) => ({
  ...given,
  ...(service !== 'main' && { service }),
});

function configOf(name: string, toml: string): HarborConfig {
  const found = harborConfig.safeParse(parse(toml));
  if (found.success) return found.data;
  throw new AppError('invalid_input', `${name}/task.toml: ${z.prettifyError(found.error)}`);
}

/** With the folder that Harbor always collects, unless the task itself declares it. */
function withPublished(declared: ArtifactPath[]): ArtifactPath[] {
  const all = [publishedArtifacts, ...declared];
  // The last entry of a path counts.
  return [...new Map(all.map((each) => [`${each.service ?? ''}:${each.path}`, each])).values()];
}

/** The named image if the engine has it, or else one that is built from the context. */
function imageOf(
  files: Files,
  prefix: string,
  { docker_image: name }: Pick<HarborEnvironment, 'docker_image'>,
): ImageSource | null {
  const context = entriesBelow(files, prefix);
  if (context.some(({ path }) => path === 'Dockerfile'))
    return { kind: 'build', files: context, ...(name && { published: name }) };
  return name ? { kind: 'image', name } : null;
}

function environmentOf(given: HarborEnvironment, image: ImageSource): TaskEnvironment {
  return {
    image,
    cpus: given.cpus,
    memoryMb: memoryOf(given),
    workdir: given.workdir ?? null,
    env: withDefaults(given.env),
    network: networkOf(given),
    healthcheck: given.healthcheck,
  };
}

/**
 * The verifier's own environment, with the image of the step's tests, of the task's tests, or the
 * task's own.
 */
function verifierEnvironment(
  files: Files,
  { environment: main }: HarborConfig,
  { verifier, ...step }: HarborStep,
): TaskEnvironment {
  const given = verifier.environment ?? main;
  const tests = testsImage(files, step);
  const image = tests
    ? imageOf(files, tests, verifier.environment ?? {})
    : verifier.environment?.docker_image
      ? { kind: 'image' as const, name: verifier.environment.docker_image }
      : imageOf(files, 'environment/', main);
  return environmentOf(given, image ?? { kind: 'build', files: [] });
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
    instruction: withoutCanary(fileText(files, `${own}instruction.md`) ?? ''),
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
    collect: collectOf(files, verifier.collect),
    verifier: verifierOf(files, step, {
      environment: separate && verifierEnvironment(files, config, step),
      network: networkOf(verifier, (separate && verifier.environment) || config.environment),
    }),
    limits: {
      build: config.environment.build_timeout_sec,
      agent: step.agent.timeout_sec ?? noLimit,
      verify: verifier.timeout_sec ?? 600,
    },
    minReward: step.min_reward ?? null,
  };
}

/** Marks of benchmark data at its beginning are not part of an instruction. */
function withoutCanary(text: string): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => !/^(<!--.*canary.*-->|#.*canary.*)$/i.test(line.trim()));
  return first < 1
    ? text
    : lines
        .slice(first)
        .join('\n')
        .replace(/^\s*\n/, '');
}

/** The script is older than `[[verifier.collect]]`, and DeepSWE's first version has it. */
function collectOf(files: Files, commands: HarborCollect[]): CollectCommand[] {
  const script = files.get('pre_artifacts.sh');
  const path = '/belay/pre_artifacts.sh';
  return [
    ...(script
      ? [{ files: [{ ...script, path }], command: ['bash', path], seconds: 300, user: null }]
      : []),
    ...commands.map(inMain).map(({ command, ...given }) => ({
      ...given,
      files: [],
      command: [given.service === undefined ? 'bash' : 'sh', '-c', command],
    })),
  ];
}

/** `environment` is the verifier's own; false if it has none. */
function verifierOf(
  files: Files,
  step: HarborStep,
  { environment, network }: { environment: TaskEnvironment | false; network: TaskNetwork },
): Verifier {
  const tests = step.folders.flatMap((path) => entriesBelow(files, `${path}tests/`));
  const usesPytest = tests.some(
    ({ path, bytes }) => path === 'test.sh' && /\bpytest\b/.test(bytes.toString()),
  );
  const writable = writableRewards(tests);
  const command = ['bash', '/tests/test.sh'];
  const named = step.verifier.environment?.docker_image;
  const hasTests = environment && (testsImage(files, step) ?? named) !== undefined;
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
    network,
    collect: ['reward.json', 'reward.txt', 'ctrf.json'].map((name) => `/logs/verifier/${name}`),
    judge: (outcome) => judgeReward(outcome, { usesPytest, writable }),
  };
  return { ...verifier, ...(usesPytest ? pytestChecks(verifier) : { check: againWith(verifier) }) };
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
