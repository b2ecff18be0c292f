import { randomBytes } from 'node:crypto';
import { startingFiles, workdirOf, type Assignment } from './agents/agent.js';
import type { Submission } from './carry.js';
import { whenReady } from './engine/readiness.js';
import { file, folder, type Entry } from './entries.js';
import {
  failed,
  invalid,
  proofFile,
  type Environment,
  type Outcome,
  type Step,
  type Verdict,
} from './model.js';

export interface Verified {
  verdict: Verdict;
  output: string;
  /** What the verifier left, for the record: reports and reward files. */
  files: Map<string, Buffer>;
}

/**
 * Verifies what was handed in, in a fresh container from the task's image: nothing of the agent runs there but
 * the files that the format carries. The verdict is made from the exit code and from files that are read after
 * the container has ended. Throws for a failure of the engine.
 */
export async function verify(
  assignment: Assignment,
  step: Step,
  submission: Submission,
): Promise<Verified> {
  const { task } = assignment;
  const nothingToRun = { output: '', files: new Map<string, Buffer>() };
  if (task.carries.kind === 'patch' && !submission.patch?.length && !submission.always)
    return { ...nothingToRun, verdict: failed('The patch is empty.', 'empty_patch') };
  // Unknown before the container starts: a file or a report that bears it was made in this run.
  const proof = randomBytes(16).toString('hex');
  const { verifier, limits } = step;
  const collect = verifier.collect.map((path) => path.replaceAll('{proof}', proof));
  const box = await createBox(assignment, step, { submission, proof });
  try {
    const { exitCode, timedOut } = await box.run(limits.verify, assignment.signal);
    const [output, ...found] = await Promise.all([
      box.output(),
      ...collect.map((path) => (timedOut ? [] : box.read(path))),
    ]);
    if (timedOut)
      return {
        output,
        files: new Map(),
        verdict: failed(`The tests took longer than ${limits.verify} s.`, 'verifier_timeout'),
      };
    const files = new Map<string, Buffer>([[proofFile, Buffer.from(proof)]]);
    for (const [index, path] of verifier.collect.entries()) {
      const entry = found[index]?.find(({ kind }) => kind === 'file');
      if (entry) files.set(path, entry.bytes);
    }
    return { output, files, verdict: judged(verifier.judge, { exitCode, output, files }) };
  } finally {
    assignment.engine.discard(box);
  }
}

function judged(judge: (outcome: Outcome) => Verdict, outcome: Outcome): Verdict {
  try {
    return judge(outcome);
  } catch (error) {
    // What a verifier left may be anything, such as JSON that is none.
    return invalid('no_result', `The result cannot be read: ${(error as Error).message}`);
  }
}

async function createBox(
  assignment: Assignment,
  step: Step,
  { submission, proof }: { submission: Submission; proof: string },
) {
  const { engine, task, run, network } = assignment;
  const { verifier } = step;
  const environment: Environment = verifier.environment ?? task.environment;
  const image = assignment.verifierImages.get(step.name) ?? assignment.image;
  const workdir = verifier.environment ? environment.workdir : workdirOf(assignment);
  const withProof = (text: string) => text.replaceAll('{proof}', proof);
  const { removed, patch } = submission;
  const carried = carriedBy(assignment, submission);
  const inline = verifier.inline?.(carried);
  const files = [
    ...(task.carries.kind === 'files' || task.carries.kind === 'patch'
      ? startingFiles(assignment, step)
      : []),
    ...carried,
    ...(removed.length > 0 ? [file('/verify/removed', removed.join('\0'))] : []),
    ...(patch ? [file('/verify/patch.diff', patch)] : []),
    ...verifier.folders.map((path) => folder(withProof(path), 0o755)),
    ...verifier.files,
  ];
  return engine.create({
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
    env: mapValues({ ...environment.env, ...verifier.env, ...inline }, withProof),
    cpus: environment.cpus,
    memoryMb: environment.memoryMb,
    network: network === 'declared' ? environment.network : 'none',
    files: inline ? [] : files,
  });
}

/** Deletions come first; only programs of the image do them. */
const removing = (removed: string[]): string[] =>
  removed.length > 0
    ? ['sh', '-c', 'xargs -0 rm -rf -- < /verify/removed; exec "$@"', 'removing']
    : [];

/** Of named files only plain ones: a link could lead to the tests. */
function carriedBy({ task, image }: Assignment, { entries }: Submission): Entry[] {
  const { carries } = task;
  if (carries.kind === 'patch') return [];
  if (carries.kind !== 'files') return entries;
  const workdir = workdirOf({ task, image });
  const wanted = carries.paths.map((path) => `${workdir}/${path}`);
  const isWanted = (path: string) =>
    wanted.some((each) => (each.endsWith('/') ? path.startsWith(each) : path === each));
  return entries.filter(({ path, kind }) => kind === 'file' && isWanted(path));
}

const mapValues = (record: Record<string, string>, change: (value: string) => string) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
