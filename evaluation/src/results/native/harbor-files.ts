import { join, posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { Task, Trial } from '../../model.js';
import { isInArtifact, publishedArtifacts } from '../../suites/artifact-paths.js';
import { folderName } from '../../folder-name.js';
import { writeInside } from '../journal.js';
import { pythonJson } from './python-json.js';
import { ctrfOf } from './ctrf.js';
import { jobConfig, jobLock, trialConfig, trialLock } from './harbor-configs.js';
import { jobResult } from './job-result.js';
import { folderOf, type HarborTrial } from './harbor-trial.js';
import { stepResults, trialResult } from './trial-result.js';
import { kept, suffixOf, uuidOf, verifierFiles, type Writer } from './writer.js';

/**
 * Harbor's job tree: jobs/JOB with its configuration, lock, log and result, and below it a folder
 * for each trial.
 */
export const harborFiles: Writer = (out, { run, tasks, trials }) => {
  const name = run.created.slice(0, 19).replace('T', '__').replaceAll(':', '-');
  const folder = join(resolve(out, 'native', 'jobs'), name);
  const job = { name, folder, id: uuidOf(`${run.created}${run.agent}`) };
  const isOneTask = tasks.length === 1 && tasks[0]?.package?.folder === run.data;
  const all = trials.map((trial) => {
    const task = tasks.find(({ id }) => id === trial.task);
    const path = task?.package?.folder ?? join(run.data, trial.task);
    return {
      trial,
      task,
      name: `${shortName(path)}__${suffixOf(trial.key)}`,
      source: isOneTask ? null : datasetName(run.data),
      path,
      multiplier: run.timeoutMultiplier,
      job,
      out,
    };
  });
  const files = {
    'config.json': text(jobConfig(run, job, isOneTask)),
    'lock.json': text(jobLock(run, all)),
    'result.json': text(jobResult(run, job.id, all)),
    'job.log': all.map(({ name: of, trial }) => `${of}: ${logLine(trial)}\n`).join(''),
  };
  for (const [file, content] of Object.entries(files))
    writeInside(out, join(folder, file), content);
  for (const each of all) writeTrial(each);
};

/** The name of the folder of tasks, without the file that lists them and without a version. */
const datasetName = (data: string) =>
  folderName(folderOf(data.replace(/\/dataset\.toml$/, '').replace(/@[^/]*$/, '')));

/** The detail can have several lines, and they can contain anything. */
const logLine = ({ verdict }: Trial) =>
  `${verdict.outcome}. ${stripVTControlCharacters(verdict.detail).replace(/\s+/g, ' ').trim()}`;

const text = (value: object) => pythonJson(value, { indent: 4, unicode: true });

const shortName = (path: string) =>
  folderName(folderOf(path))
    .slice(0, 32)
    .replace(/[_-]+$/, '');

function writeTrial(each: HarborTrial): void {
  const { trial, task, out, job, name } = each;
  const folder = join(job.folder, name);
  const result = trialResult(each, pathToFileURL(folder).href);
  const lock = trialLock(each);
  writeInside(out, join(folder, 'config.json'), text(trialConfig(each)));
  if (lock) writeInside(out, join(folder, 'lock.json'), text(lock));
  writeInside(out, join(folder, 'result.json'), text(result));
  writeInside(out, join(folder, 'trial.log'), `${trial.verdict.detail}\n`);
  if (result.exception_info)
    writeInside(out, join(folder, 'exception.txt'), `${result.exception_info.exception_message}\n`);
  const trajectory = kept(out, trial, 'trajectory.json');
  const isMulti = stepResults(each) !== null;
  if (trajectory) writeInside(out, join(folder, 'agent', 'trajectory.json'), trajectory);
  for (const step of task?.steps ?? [])
    writeStep(out, { trial, task }, step.name, isMulti ? join(folder, 'steps', step.name) : folder);
}

function writeStep(
  out: string,
  { trial, task }: { trial: Trial; task: Task | undefined },
  step: string,
  folder: string,
): void {
  const printed = trial.agent === 'oracle' && kept(out, trial, step, 'agent-output.txt');
  if (printed) writeInside(out, join(folder, 'agent', 'oracle.txt'), printed);
  const stdout = kept(out, trial, step, 'test-output.txt');
  if (!stdout) return;
  writeInside(out, join(folder, 'verifier', 'test-stdout.txt'), stdout);
  const left = verifierFiles(out, trial, step);
  const { tests } = trial.verdict;
  if (tests && !left.includes('ctrf.json'))
    writeInside(
      out,
      join(folder, 'verifier', 'ctrf.json'),
      pythonJson(ctrfOf(tests), { indent: 4 }),
    );
  for (const file of left) {
    const bytes = kept(out, trial, step, 'verifier', file);
    if (bytes) writeInside(out, join(folder, 'verifier', file), bytes);
  }
  writeInside(
    out,
    join(folder, 'artifacts', 'manifest.json'),
    manifestOf(out, trial, { task, step, folder }),
  );
}

/** Writes the artifacts that the format collects, and returns their manifest. */
function manifestOf(
  out: string,
  trial: Trial,
  { task, step, folder }: { task: Task | undefined; step: string; folder: string },
): string {
  const declared = task?.artifacts.kind === 'paths' ? task.artifacts.paths : [publishedArtifacts];
  const saved = kept(out, trial, step, 'artifacts.json')?.toString() ?? '{"entries":[]}';
  const { entries } = JSON.parse(saved) as {
    entries: { path: string; kind: string; bytes: string }[];
  };
  const manifest = declared.map((artifact) => {
    const { path: source, exclude } = artifact;
    const files = entries.filter(
      ({ kind, path }) =>
        kind === 'file' && posix.normalize(path) === path && isInArtifact(artifact, path),
    );
    for (const { path, bytes } of files)
      writeInside(out, join(folder, 'artifacts', path), Buffer.from(bytes, 'base64'));
    const isFile = files.some(({ path }) => path === source);
    const absent = source === publishedArtifacts.path ? 'empty' : 'failed';
    return {
      source,
      destination: join('artifacts', source),
      type: isFile ? 'file' : 'directory',
      status: files.length > 0 ? 'ok' : absent,
      service: null,
      exclude: isFile ? [] : exclude,
    };
  });
  return pythonJson(manifest, { indent: 2 });
}
