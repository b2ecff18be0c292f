import { AppError, excerpt, visibleText, type PullRequestStatus } from '@belay/protocol';
import { z } from 'zod';

type Kind = 'github' | 'gitlab' | 'gitea';
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
const page = z.url({ protocol: /^https?$/ }).max(2_000);
const commit = z.string().regex(/^[0-9a-f]{40,64}$/);

const pull = z.object({
  html_url: page,
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
  const statuses = parse(combined, await get(`${of}/status`));
  const runs = kind === 'github' ? parse(checkRuns, await get(`${of}/check-runs`)).check_runs : [];
  return {
    url: found.html_url,
    number,
    title: found.title,
    state: merged ? 'merged' : state === 'closed' ? 'closed' : draft ? 'draft' : 'open',
    checks: together([
      ...(statuses.statuses?.length ? [ofStatus(statuses.state)] : []),
      ...runs.map(ofRun),
    ]),
  };
}

/** The statuses that other services report for a commit. */
const combined = z.object({ state: z.string(), statuses: z.array(z.unknown()).nullish() });

/** Runs of GitHub’s own actions and apps, which are not among the statuses. */
const checkRuns = z.object({
  check_runs: z.array(z.object({ status: z.string(), conclusion: z.string().nullish() })),
});

const ofStatus = (state: string): Checks => {
  if (state === 'success' || state === 'warning') return 'passed';
  return state === 'failure' || state === 'error' ? 'failed' : 'running';
};

function ofRun({ status, conclusion }: z.output<typeof checkRuns>['check_runs'][number]): Checks {
  if (status !== 'completed') return 'running';
  return ['success', 'neutral', 'skipped'].includes(conclusion ?? '') ? 'passed' : 'failed';
}

const merge = z.object({
  web_url: page,
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
  const ended = state === 'merged' ? 'merged' : 'closed';
  return {
    url,
    number,
    title: found.title,
    state: state === 'opened' ? (draft ? 'draft' : 'open') : ended,
    checks: pipeline ? ofPipeline(pipeline.status) : 'none',
  };
}

function ofPipeline(status: string): Checks {
  if (status === 'success' || status === 'skipped') return 'passed';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'running';
}

/** One failure is enough, and all must have ended to have passed. */
function together(checks: readonly Checks[]): Checks {
  const worst = (['failed', 'running', 'passed'] as const).find((one) => checks.includes(one));
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
