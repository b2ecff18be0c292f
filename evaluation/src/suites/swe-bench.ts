import { dirname } from 'node:path';
import { AppError } from '@belay/protocol';
import { assetText } from '../asset-text.js';
import { fileEntry, contentHash, nulEnded, ownedBy, type Entry } from '../entries.js';
import type { TaskEnvironment, Task, Verifier } from '../model.js';
import { dataFile, tasksOfLines } from './reading.js';
import { tasksFrom } from './readable-tasks.js';
import type { Suite } from './suite.js';
import {
  assetsBeside,
  assetsFolder,
  copyAssets,
  missingAssets,
  stagedAssets,
  type AssetReader,
} from './swe-bench/image-assets.js';
import { instanceCheck } from './swe-bench/instance-check.js';
import { parsedInstance, type Instance } from './swe-bench/instance.js';
import { completed, type Completed, type RunnableInstance } from './swe-bench/runnable-instance.js';
import { isKnownParser, judgeInstance, testsOfInstance } from './swe-bench/logs.js';
import { specOf, type SpecLookup } from './swe-bench/specs.js';
import { answeringPaths, hiddenPaths, referencePaths } from './swe-bench/paths.js';
import { ownMarker, ownMarkerName, recordedExit } from './swe-bench/scripts.js';
import { isTaskRepository, lineOfTask, publishedTasks } from './swe-bench/task-repository.js';
import { wrongInstance } from './swe-bench/wrong-instance.js';

/**
 * SWE-Bench instances: those of harness version 5, with their image or their files and their
 * evaluation script, and classic ones, whose script and environment follow from repository and
 * version.
 */
export const sweBench: Suite = sweBenchWith(specOf);

/** The same suite with other environments. */
export function sweBenchWith(lookup: SpecLookup): Suite {
  return {
    name: 'swe-bench',
    title: 'SWE-bench',
    read(path, note) {
      const taskFrom = (line: unknown, assetsOf: (id: string) => AssetReader) => {
        const instance = parsedInstance(line);
        return taskOf(completed(instance, lookup), assetsOf(instance.instance_id));
      };
      if (isTaskRepository(path))
        return tasksFrom({ suite: 'swe-bench', path }, publishedTasks(path, note), (folder) => {
          const assets: AssetReader = (asset) =>
            folder.files.get(`${assetsFolder}/${asset}`)?.bytes;
          const task = taskFrom(lineOfTask(folder), () => assets);
          return { ...task, labels: { ...task.labels, split: folder.description.split } };
        });
      const file = dataFile(path, /^(?!predictions).*\.jsonl?(\.gz)?$/);
      return tasksOfLines('swe-bench', file, (line) =>
        taskFrom(line, (id) => assetsBeside(dirname(file), id)),
      );
    },
  };
}

const wholeLimits = { build: 1_800, agent: 1_800, verify: 1_800 };

function taskOf({ instance: given, setup, unsupported }: Completed, read: AssetReader): Task {
  const files = Object.entries(given.base_files ?? {}).map(([path, text]) => fileEntry(path, text));
  const own = files.length > 0;
  const user = own ? 1000 : 0;
  // A repository with a few files is tested within a second, but a planted bug may loop forever.
  const limits = { ...wholeLimits, ...(own && { verify: 60 }) };
  const assets = stagedAssets(given.image_assets ?? [], read);
  const verifier = verifierOf(given, own, assets.files);
  const check = instanceCheck(given, verifier, (output) => testsOfInstance(given, output));
  return {
    suite: 'swe-bench',
    id: given.instance_id,
    environment: environmentOf(given, setup),
    user: own ? '1000' : null,
    artifacts: { kind: 'patch' },
    scoring: 'final',
    tries: 1,
    tests: {
      FAIL_TO_PASS: given.FAIL_TO_PASS,
      PASS_TO_PASS: given.PASS_TO_PASS,
      type: given.eval_type,
    },
    labels: { repository: given.repo },
    content: contentHash('swe-bench', given, limits, ...assets.files),
    unsupported:
      unsupported ??
      parserFault(given.log_parser) ??
      missingAssets(given.instance_id, assets.missing),
    steps: [
      {
        name: 'solve',
        instruction: given.problem_statement,
        files: ownedBy(files, user),
        oracle: { kind: 'patch', patch: Buffer.from(given.patch) },
        verifier: {
          ...verifier,
          check,
          withWrongTests: () => {
            const wrong = wrongInstance(given);
            return wrong && verifierOf(wrong, own, assets.files);
          },
        },
        limits,
        minReward: null,
      },
    ],
  };
}

function verifierOf(given: RunnableInstance, own: boolean, assets: Entry[]): Verifier {
  const isGuarded = given.log_parser === 'console_assert';
  const copied = assets.length > 0 ? copyAssets : undefined;
  return {
    files: [
      fileEntry('/verify/evaluate.sh', assetText('evaluate.sh'), 0o755),
      fileEntry('/verify/eval.sh', recordedExit(given.eval_script, copied), 0o755),
      fileEntry('/verify/hidden', nulEnded(hiddenPaths(given))),
      fileEntry('/verify/reference', nulEnded(referencePaths(given))),
      fileEntry('/verify/answering', answeringPaths(given)),
      fileEntry('/verify/guard.cjs', assetText('guard.cjs')),
      ...assets,
      fileEntry('/verify/chrome-without-sandbox.sh', assetText('chrome-without-sandbox.sh'), 0o755),
    ],
    folders: [],
    command: ['bash', '/verify/evaluate.sh', ...(own ? ['init'] : [])],
    sealed: isGuarded,
    // SWE-Bench's containers have a network, which some tests need. The agent gets none.
    ...(!own && { network: 'bridge' as const }),
    env: {
      HOME: '/tmp',
      [ownMarkerName]: ownMarker(),
      ...(isGuarded && { NODE_OPTIONS: '--require=/verify/guard.cjs' }),
    },
    user: own ? '1000' : null,
    collect: [],
    judge: (outcome) => judgeInstance(given, outcome),
  };
}

const parserFault = (name: string): string | null =>
  isKnownParser(name) ? null : `There is no parser called ${name}.`;

function environmentOf(
  { base_files, ...given }: RunnableInstance,
  setup: Completed['setup'],
): TaskEnvironment {
  const common = {
    cpus: 1,
    memoryMb: 4096,
    workdir: '/testbed',
    env: {},
    network: 'none',
  } as const;
  if (base_files) return { ...common, image: { kind: 'toolchain', name: 'base' }, memoryMb: 2048 };
  const { repo, base_commit: commit } = given;
  const image = given.image ?? (setup && publishedImage(given));
  if (!image && !commit)
    throw new AppError(
      'invalid_input',
      `${given.instance_id} has neither an image, a base_commit nor base_files: it cannot be run.`,
    );
  const node = given.node_version ?? (setup && 'node' in setup ? setup.node : null);
  const python = setup && 'python' in setup ? setup : null;
  const how = setup && { python, needs: setup.needs ?? null };
  return { ...common, image: { kind: 'repository', image, repo, commit, node, ...how } };
}

/** The name of SWE-Bench's own image of an instance on Docker Hub. */
const publishedImage = ({ instance_id: id }: Instance): string =>
  `swebench/sweb.eval.x86_64.${id.toLowerCase().replaceAll('__', '_1776_')}:latest`;
