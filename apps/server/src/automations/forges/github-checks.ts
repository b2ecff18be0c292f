import { z } from 'zod';
import type { ForgeApi } from './forge-api.js';
import { pathPart } from './forge-fields.js';
import type { ForgeCheck } from './forge.js';
import {
  combinedStatus,
  githubCheckRun,
  githubCheckRuns,
  githubWorkflowRuns,
} from './github-shapes.js';

const maxPages = 10;
const maxWorkflows = 20;

/**
 * All checks of a commit at GitHub. Its fine-grained tokens may not read check runs: for those, the jobs of its Actions are
 * read instead, and what other apps check is not known.
 */
export async function githubChecks(api: ForgeApi, sha: string): Promise<ForgeCheck[]> {
  const of = api.at(`commits/${pathPart(sha)}`);
  const runs = await paged(async (query) => {
    const path = `${of}/check-runs?filter=latest&${query}`;
    const answer = await api.answer({ method: 'GET', path });
    if (answer.status === 403) return undefined;
    if (answer.status !== 200) throw api.refusal('read checks', answer);
    return api.parse('read checks', answer, githubCheckRuns).check_runs;
  });
  const statuses = await paged(async (query) => {
    const path = `${of}/status?${query}`;
    return (await api.read('read statuses', path, combinedStatus)).statuses;
  });
  return [...(runs ?? (await jobsAt(api, sha))), ...(statuses ?? [])];
}

/** Pages of a list within an object; undefined if the first is. */
async function paged(
  page: (query: string) => Promise<ForgeCheck[] | undefined>,
): Promise<ForgeCheck[] | undefined> {
  const all: ForgeCheck[] = [];
  for (let number = 1; number <= maxPages; number++) {
    const found = await page(`per_page=100&page=${number}`);
    if (!found) return number === 1 ? undefined : all;
    all.push(...found);
    if (found.length < 100) break;
  }
  return all;
}

/** The jobs of the newest run of each workflow. */
async function jobsAt(api: ForgeApi, sha: string): Promise<ForgeCheck[]> {
  const path = api.at(`actions/runs?head_sha=${pathPart(sha)}&per_page=100`);
  const { workflow_runs: runs } = await api.read('read checks', path, githubWorkflowRuns);
  const newest = new Map<string, string>();
  for (const { id, workflow_id: workflow, event } of runs) {
    const key = `${workflow} ${event}`;
    const known = newest.get(key);
    if (known === undefined || Number(known) < Number(id)) newest.set(key, id);
  }
  const all: ForgeCheck[] = [];
  for (const id of [...newest.values()].slice(0, maxWorkflows)) {
    const jobs = await paged(async (query) => {
      const of = api.at(`actions/runs/${pathPart(id)}/jobs?filter=latest&${query}`);
      return (await api.read('read checks', of, z.object({ jobs: z.array(githubCheckRun) }))).jobs;
    });
    all.push(...(jobs ?? []));
  }
  return all;
}
