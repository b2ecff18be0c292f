import type { ForgeApi } from './forge-api.js';
import { pathPart } from './forge-fields.js';
import type { ForgeCheck } from './forge.js';
import { gitlabJob, gitlabPipeline, gitlabStatus } from './gitlab-shapes.js';

const maxPipelines = 10;

/**
 * The checks of a commit at GitLab: the jobs of the newest pipeline of each branch and source, the pipeline itself where
 * they do not say its state, and what other services reported.
 */
export async function gitlabChecks(api: ForgeApi, sha: string): Promise<ForgeCheck[]> {
  const path = api.at(`pipelines?sha=${pathPart(sha)}&order_by=id&sort=desc`);
  const all = await api.list('read pipelines', path, gitlabPipeline, { pages: 1 });
  const newest = new Map<string, (typeof all)[number]>();
  for (const one of all) {
    const key = `${one.source} ${one.ref}`;
    if (!newest.has(key)) newest.set(key, one);
  }
  const checks: ForgeCheck[] = [];
  const pipelines: ForgeCheck[] = [];
  for (const { id, state, web_url: url } of [...newest.values()].slice(0, maxPipelines)) {
    const jobsPath = api.at(`pipelines/${pathPart(id)}/jobs`);
    const jobs = await api.list('read jobs', jobsPath, gitlabJob, { pages: 5 });
    checks.push(...jobs);
    if (jobs.length === 0 || (state !== 'passed' && !jobs.some((one) => one.state === state)))
      pipelines.push({ name: 'pipeline', state, url, summary: null });
  }
  const names = new Set(checks.map(({ name }) => name));
  const statusesPath = api.at(`repository/commits/${pathPart(sha)}/statuses`);
  const statuses = await api.list('read statuses', statusesPath, gitlabStatus, { pages: 5 });
  // Jobs are among them.
  return [...checks, ...pipelines, ...statuses.filter(({ name }) => !names.has(name))];
}
