import { randomBytes } from 'node:crypto';
import type { ContainerNetwork } from '@belay/containers';
import { containerNetwork, startingFiles, workdirOf, type TrialContext } from './agents/agent.js';
import type { Artifacts } from './artifacts.js';
import { gitEnvironment } from './engine/git-environment.js';
import { whenReady } from './engine/readiness.js';
import { createTask, readFiles } from './engine/task-files.js';
import { fileEntry, folderEntry, nulEnded, type Entry } from './entries.js';
import { isCollected, filterArtifacts } from './artifact-filter.js';
import { ReadBudget } from './read-budget.js';
import { isInArtifact } from './suites/artifact-paths.js';
import { proofHash, sealKey, withoutSeals } from './suites/seal.js';
import {
  fail,
  invalid,
  proofFile,
  type TaskEnvironment,
  type Step,
  type Verdict,
  type VerifierOutput,
} from './model.js';

export interface Verification {
  verdict: Verdict;
  output: string;
  /** Reports and reward files of the verifier, for the record. */
  files: Map<string, Buffer>;
}

/**
 * Verifies artifacts in a new container from the task's image. Of the agent's work it contains only
 * the files that the format collects. The verdict is based on the exit code and on files read after
 * the container has exited. Throws when the engine fails.
 */
export async function verify(
  context: TrialContext,
  step: Step,
  artifacts: Artifacts,
): Promise<Verification> {
  const { task } = context;
  const nothingToRun = { output: '', files: new Map<string, Buffer>() };
  if (task.artifacts.kind === 'patch' && !artifacts.patch?.length && !artifacts.always)
    return { ...nothingToRun, verdict: fail('The patch is empty.', 'empty_patch') };
  // Unknown before the container starts, so a file or a report that contains it was made in this
  // run.
  const proof = randomBytes(16).toString('hex');
  const { verifier, limits } = step;
  const collect = verifier.collect.map((path) => path.replaceAll('{proof}', proof));
  const container = await createContainer(context, step, { artifacts, proof });
  try {
    const { exitCode, timedOut } = await container.run(limits.verify, context.signal);
    const budget = new ReadBudget();
    const [output, ...found] = await Promise.all([
      container.output(),
      ...collect.map((path) => (timedOut ? [] : readFiles(container, path, budget))),
    ]);
    if (timedOut)
      return {
        output,
        files: new Map(),
        verdict: fail(`The tests took longer than ${limits.verify} s.`, 'verifier_timeout'),
      };
    const files = new Map<string, Buffer>([[proofFile, Buffer.from(proof)]]);
    for (const [index, path] of verifier.collect.entries()) {
      const entry = found[index]?.find(({ kind }) => kind === 'file');
      if (entry) files.set(path, entry.bytes);
    }
    const verdict = judged(verifier.judge, { exitCode, output, files });
    return { output: withoutSeals(output), files, verdict };
  } finally {
    context.host.discard(container);
  }
}

function judged(judge: (output: VerifierOutput) => Verdict, output: VerifierOutput): Verdict {
  try {
    return judge(output);
  } catch (error) {
    // A verifier may leave anything, such as invalid JSON.
    return invalid('no_result', `The result cannot be read: ${(error as Error).message}`);
  }
}

async function createContainer(
  context: TrialContext,
  step: Step,
  { artifacts, proof }: { artifacts: Artifacts; proof: string },
) {
  const { host, task, run } = context;
  const { verifier } = step;
  const environment: TaskEnvironment = verifier.environment ?? task.environment;
  const image = context.verifierImages.get(step.name) ?? context.image;
  const workdir = verifier.environment ? environment.workdir : workdirOf(context);
  const withProof = (text: string) =>
    text.replaceAll('{proof}', proof).replaceAll('{proof-hash}', proofHash(proof));
  const { patch } = artifacts;
  const removed = artifacts.removed.filter(isCollected);
  const collected = collectedBy(context, artifacts);
  const inline = verifier.inline?.(collected);
  const files = [
    ...(task.artifacts.kind === 'files' || task.artifacts.kind === 'patch'
      ? startingFiles(context, step)
      : []),
    ...collected,
    ...(removed.length > 0 ? [fileEntry('/verify/removed', nulEnded(removed))] : []),
    ...(patch ? [fileEntry('/verify/patch.diff', patch)] : []),
    ...verifier.folders.map((path) => folderEntry(withProof(path), 0o755)),
    ...verifier.files,
    ...(verifier.sealed ? sealKey(proof) : []),
  ];
  return createTask(host, {
    run,
    image: image.name,
    command: whenReady([...removing(removed), ...verifier.command.map(withProof)], {
      ...(environment.healthcheck && {
        before: environment.healthcheck,
        entrypoint: image.entrypoint,
      }),
    }),
    user: verifier.user ?? 'root',
    workdir,
    env: mapValues(
      { ...gitEnvironment, ...environment.env, ...verifier.env, ...inline },
      withProof,
    ),
    cpus: environment.cpus,
    memoryMb: environment.memoryMb,
    ...(await verifierNetwork(context, verifier)),
    files: inline ? [] : files,
  });
}

/** A verifier without a container of its own uses the services as the agent left them. */
async function verifierNetwork(
  context: TrialContext,
  { network, environment = context.task.environment }: Step['verifier'],
): Promise<ContainerNetwork> {
  return context.services && environment === context.task.environment
    ? context.services.network()
    : { network: containerNetwork(context, network ?? environment.network) };
}

/** Deletes files before the command runs, using only programs of the image. */
const removing = (removed: string[]): string[] =>
  removed.length > 0
    ? ['sh', '-c', 'xargs -0 rm -rf -- < /verify/removed; exec "$@"', 'removing']
    : [];

/**
 * The artifacts that the format collects. Named files must be regular ones, because a link could
 * lead to the tests.
 */
function collectedBy({ task, image }: TrialContext, { entries }: Artifacts): Entry[] {
  const { artifacts } = task;
  if (artifacts.kind === 'patch') return [];
  const own = filterArtifacts(entries);
  if (artifacts.kind === 'container') return own;
  if (artifacts.kind === 'paths')
    return own.filter(({ path }) => artifacts.paths.some((each) => isInArtifact(each, path)));
  const workdir = workdirOf({ task, image });
  const wanted = artifacts.paths.map((path) => `${workdir}/${path}`);
  const isWanted = (path: string) =>
    wanted.some((each) => (each.endsWith('/') ? path.startsWith(each) : path === each));
  return own.filter(({ path, kind }) => kind === 'file' && isWanted(path));
}

const mapValues = (record: Record<string, string>, change: (value: string) => string) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
