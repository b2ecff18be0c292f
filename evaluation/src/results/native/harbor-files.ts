import { join, posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Task, Trial } from '../../model.js';
import { folderName } from '../../folder-name.js';
import { writeInside } from '../journal.js';
import { float, pythonJson } from './python-json.js';
import type { RunFile } from '../run-file.js';
import { ctrfOf } from './ctrf.js';
import { jobResult } from './job-result.js';
import {
  agentName,
  liteLlmName,
  stepResults,
  trialResult,
  type HarborTrial,
} from './harbor-trial.js';
import { kept, suffixOf, uuidOf, verifierFiles, type Writer } from './writer.js';

/**
 * Harbor's job tree: jobs/JOB with config.json and result.json, and below it a folder for each
 * trial.
 */
export const harborFiles: Writer = (out, { run, tasks, trials }) => {
  const name = run.created.slice(0, 19).replace('T', '__').replaceAll(':', '-');
  const jobs = resolve(out, 'native', 'jobs');
  const job = { folder: join(jobs, name), id: uuidOf(`${run.created}${run.agent}`) };
  const dataset = folderName(run.data.split('/').at(-1) ?? 'data');
  const all = trials.map((trial) => ({
    trial,
    task: tasks.find(({ id }) => id === trial.task),
    name: `${shortName(trial.task)}__${suffixOf(trial.key)}`,
    source: dataset,
    path: join(run.data, trial.task),
    multiplier: run.timeoutMultiplier,
    job,
    out,
  }));
  const config = {
    job_name: name,
    jobs_dir: jobs,
    ...(run.attempts > 1 && { n_attempts: run.attempts }),
    ...multiplierConfig(run.timeoutMultiplier),
    ...(run.concurrency !== 4 && { n_concurrent_trials: run.concurrency }),
    ...agentConfig(run, 'agents', (agent) => [agent]),
    datasets: [{ path: run.data }],
  };
  writeInside(out, join(job.folder, 'config.json'), text(config));
  writeInside(out, join(job.folder, 'result.json'), text(jobResult(run, job.id, all)));
  for (const each of all) writeTrial(each);
};

const text = (value: object) => pythonJson(value, { indent: 4, unicode: true });

const shortName = (task: string) =>
  folderName(task.split('/').at(-1) ?? task)
    .slice(0, 32)
    .replace(/[_-]+$/, '');

function writeTrial(each: HarborTrial): void {
  const { trial, task, out, job, name } = each;
  const folder = join(job.folder, name);
  const result = trialResult(each, pathToFileURL(folder).href);
  writeInside(out, join(folder, 'config.json'), text(trialConfigFile(each)));
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
  const sources = task?.artifacts.kind === 'paths' ? task.artifacts.paths : ['/logs/artifacts'];
  const saved = kept(out, trial, step, 'artifacts.json')?.toString() ?? '{"entries":[]}';
  const { entries } = JSON.parse(saved) as {
    entries: { path: string; kind: string; bytes: string }[];
  };
  const manifest = sources.map((source) => {
    const root = source.replace(/\/+$/, '');
    const found = entries.filter(({ path }) => path === root || path.startsWith(`${root}/`));
    const files = found.filter(
      ({ kind, path }) => kind === 'file' && posix.normalize(path) === path,
    );
    for (const { path, bytes } of files)
      writeInside(out, join(folder, 'artifacts', path), Buffer.from(bytes, 'base64'));
    const isFile = files.some(({ path }) => path === root);
    const absent = root === '/logs/artifacts' ? 'empty' : 'failed';
    return {
      source,
      destination: join('artifacts', root),
      type: isFile ? 'file' : 'directory',
      status: files.length > 0 ? 'ok' : absent,
      service: null,
    };
  });
  return pythonJson(manifest, { indent: 2 });
}

const multiplierConfig = (times: number) =>
  times === 1 ? {} : { timeout_multiplier: float(times) };

/** Harbor's default agent is its oracle, so a config omits it. */
function agentConfig(
  { agent, model }: Pick<RunFile, 'agent' | 'model'>,
  key: string,
  form: (agent: object) => object = (same) => same,
): object {
  const name = agentName(agent);
  if (name === 'oracle') return {};
  return { [key]: form({ name, ...(model && { model_name: liteLlmName(model) }) }) };
}

/** config.json omits defaults; result.json does not. */
function trialConfigFile({ trial, name, source, path, job, multiplier }: HarborTrial) {
  return {
    task: { path, source },
    trial_name: name,
    trials_dir: job.folder,
    ...multiplierConfig(multiplier),
    ...agentConfig(trial, 'agent'),
    job_id: job.id,
  };
}
