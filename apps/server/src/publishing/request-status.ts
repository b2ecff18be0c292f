import {
  AppError,
  excerpt,
  visibleText,
  webPage,
  type GitHostKind,
  type PullRequestStatus,
} from '@belay/protocol';
import { z } from 'zod';

type Kind = Exclude<GitHostKind, 'other'>;
type Checks = PullRequestStatus['checks'];

interface StatusQuery {
  /** The path of the repository that receives the request. */
  target: string;
  number: number;
  /** Reads a resource of the host’s API; throws one sentence. */
  get(path: string): Promise<unknown>;
}

/** Reads a pull request and the checks of its latest commit. Its host’s responses are untrusted. */
export function requestStatus(kind: Kind, query: StatusQuery): Promise<PullRequestStatus> {
  return kind === 'gitlab' ? mergeRequest(query) : pullRequest(kind, query);
}

const title = z.string().transform((text) => excerpt(visibleText(text), 300));
const commit = z.string().regex(/^[0-9a-f]{40,64}$/);

const pull = z.object({
  html_url: webPage,
  title,
  state: z.enum(['open', 'closed']),
  draft: z.boolean().nullish(),
  merged: z.boolean().nullish(),
  head: z.object({ sha: commit }),
});

async function pullRequest(
  kind: Exclude<Kind, 'gitlab'>,
  { target, number, get }: StatusQuery,
): Promise<PullRequestStatus> {
  const found = parse(pull, await get(`repos/${target}/pulls/${number}`));
  const { state, draft, merged, head } = found;
  const of = `repos/${target}/commits/${head.sha}`;
  const checks = await readable(async () => checksIn(await get(`${of}/status`)));
  if (kind === 'github')
    checks.push(
      ...(await readable(async () => runsIn(await get(`${of}/check-runs?per_page=100`)))),
    );
  return {
    url: found.html_url,
    number,
    title: found.title,
    state: stateOf(merged ? 'merged' : state, draft),
    checks: together(checks),
  };
}

/** A merge that is in progress, which GitLab calls `locked`, has not ended. */
function stateOf(state: string, draft: boolean | null | undefined): PullRequestStatus['state'] {
  if (state === 'merged' || state === 'closed') return state;
  return draft ? 'draft' : 'open';
}

/** Many tokens may read requests, but not all of their checks. */
async function readable(read: () => Promise<Checks[]>): Promise<Checks[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError) return ['unknown'];
    throw error;
  }
}

/** The statuses that other services report for a commit. */
const combined = z.object({ state: z.string(), statuses: z.array(z.unknown()).nullish() });

function checksIn(body: unknown): Checks[] {
  const { state, statuses } = parse(combined, body);
  return statuses?.length ? [ofStatus(state)] : [];
}

/** Runs of GitHub’s own actions and apps, which are not among the statuses. */
const checkRuns = z.object({
  total_count: z.int(),
  check_runs: z.array(z.object({ status: z.string(), conclusion: z.string().nullish() })),
});

function runsIn(body: unknown): Checks[] {
  const { total_count: total, check_runs: runs } = parse(checkRuns, body);
  // The runs of another page may have failed.
  return [...runs.map(ofRun), ...(total > runs.length ? (['unknown'] as const) : [])];
}

const ofStatus = (state: string): Checks => {
  if (state === 'success' || state === 'warning') return 'passed';
  return state === 'failure' || state === 'error' ? 'failed' : 'running';
};

function ofRun({ status, conclusion }: z.output<typeof checkRuns>['check_runs'][number]): Checks {
  if (status !== 'completed') return 'running';
  return ['success', 'neutral', 'skipped'].includes(conclusion ?? '') ? 'passed' : 'failed';
}

const merge = z.object({
  web_url: webPage,
  title,
  state: z.string(),
  draft: z.boolean().nullish(),
  head_pipeline: z.object({ status: z.string() }).nullish(),
});

async function mergeRequest({ target, number, get }: StatusQuery): Promise<PullRequestStatus> {
  const path = `projects/${encodeURIComponent(target)}/merge_requests/${number}`;
  const {
    web_url: url,
    state,
    draft,
    head_pipeline: pipeline,
    ...found
  } = parse(merge, await get(path));
  return {
    url,
    number,
    title: found.title,
    state: stateOf(state, draft),
    checks: pipeline ? ofPipeline(pipeline.status) : 'none',
  };
}

function ofPipeline(status: string): Checks {
  if (status === 'success' || status === 'skipped') return 'passed';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'running';
}

/** One failure is enough, and all must be known and have ended to have passed. */
function together(checks: readonly Checks[]): Checks {
  const worst = (['failed', 'running', 'unknown', 'passed'] as const).find((one) =>
    checks.includes(one),
  );
  return worst ?? 'none';
}

function parse<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new AppError(
    'unavailable',
    'The git host’s response about the pull request cannot be read. Open it on the host.',
  );
}
