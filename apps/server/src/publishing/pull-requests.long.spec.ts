import type { PullRequestServer } from '@belay/testkit';
import { PullRequestScene } from '../testing/pull-request-scene.js';

const scene = new PullRequestScene();
const { withPullRequest } = scene;
beforeAll(() => scene.start());
afterAll(() => scene.close());
afterEach(() => scene.forgetHub());

describe.each(['github', 'gitlab', 'gitea'] as const)('a pull request on %s', (kind) => {
  it.each([
    ['open', null, { state: 'open', checks: 'none' }],
    ['open', 'pending', { state: 'open', checks: 'running' }],
    ['open', 'failure', { state: 'open', checks: 'failed' }],
    ['merged', 'success', { state: 'merged', checks: 'passed' }],
    ['closed', null, { state: 'closed', checks: 'none' }],
  ] as const)('that is %s with checks %j is shown so', async (state, checks, expected) => {
    const { hub, shown } = await withPullRequest(kind);
    Object.assign(hub.opened[0] ?? {}, { state, checks });
    expect(await shown()).toMatchObject({ pullRequest: expected });
    hub.failure = { status: 200, body: { html_url: 'javascript:alert(1)', web_url: 'x' } };
    expect(await shown()).toMatchObject({ pullRequest: expected });
  });
});

describe('the checks of a pull request', () => {
  /** A published session; `change` is how the pull request is by the time its status is read. */
  async function statusOf(
    kind: Parameters<typeof withPullRequest>[0],
    change: Partial<PullRequestServer['opened'][number]>,
    forbidden?: RegExp,
  ) {
    const { hub, shown } = await withPullRequest(kind);
    Object.assign(hub.opened[0] ?? {}, change);
    if (forbidden)
      hub.failure = { status: 403, body: { message: 'Not accessible' }, paths: forbidden };
    return shown();
  }

  it.each([
    ['failed', { passedRuns: 60, checks: 'failure' }],
    ['passed', { passedRuns: 60, checks: 'success' }],
    ['unknown', { passedRuns: 200, checks: 'failure' }],
  ] as const)('are %s with %j, however many runs there are', async (checks, change) => {
    expect(await statusOf('github', change)).toMatchObject({ pullRequest: { checks } });
  });

  it.each([
    ['github', /check-runs/],
    ['github', /commits/],
    ['gitea', /commits/],
  ] as const)('at %s are unknown if the token may not read %s', async (kind, forbidden) => {
    const change = { state: 'merged', checks: 'success' } as const;
    expect(await statusOf(kind, change, forbidden)).toMatchObject({
      pullRequest: { number: 1, title: 'Add a', state: 'merged', checks: 'unknown' },
    });
  });

  it('do not matter to a merge in progress, which is still open', async () => {
    const change = { state: 'locked', checks: 'success' } as const;
    expect(await statusOf('gitlab', change)).toMatchObject({
      pullRequest: { state: 'open', checks: 'passed' },
    });
  });
});
