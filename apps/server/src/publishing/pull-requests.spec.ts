import type { PullRequestStatus, SessionSummary } from '@belay/protocol';
import { itLong, sampled } from '@belay/testing';
import { gitIn, put, type PullRequestServer } from '@belay/testkit';
import { PullRequestScene, pullRequestPage } from '../testing/pull-request-scene.js';

const hosts = ['github', 'gitlab', 'gitea'] as const;
const scene = new PullRequestScene();
const { belay, git, cloned, edit, prepare, publish, hubOf, withPullRequest } = scene;
beforeAll(() => scene.start());
afterAll(() => scene.close());
afterEach(() => scene.forgetHub());

describe.each(sampled(1, ['gitlab', 'github', 'gitea']))('a pull request on %s', (kind) => {
  it('is opened, found again, and its failure told beside the push', async () => {
    const { session, url } = await cloned();
    const { hub, repository } = await hubOf(kind, url);
    expect(await belay.json('POST', `/api/git/hosts/${git.host}/test`)).toMatchObject({
      status: 200,
      user: 'ada',
    });
    const run = async (content: string, title: string, draft = false) => {
      edit((work) => put(work, 'a.txt', content));
      const { id, pullRequests } = await prepare(session, { branch: 'agent/x' });
      expect(pullRequests).toBe(true);
      return publish(session, {
        branch: 'agent/x',
        id,
        message: 'm',
        pullRequest: { title, body: 'Why', draft },
      });
    };
    expect(await run('1\n', 'Add a', true)).toMatchObject({
      problem: null,
      pullRequest: { number: 1, isNew: true, url: expect.stringContaining(repository) as string },
      branchPage: expect.stringContaining('agent/x') as string,
    });
    const body = expect.stringMatching(/^Why\n\n<!-- belay:proof -->/) as string;
    expect(hub.opened).toMatchObject([{ head: 'agent/x', base: 'main', body, draft: true }]);
    expect(await run('2\n', 'Again')).toMatchObject({
      problem: null,
      pullRequest: { number: 1, isNew: false },
    });
    // What fails is handled alike.
    if (kind !== 'gitlab') return;
    hub.failure = { status: 403, body: { message: 'Resource not accessible' } };
    expect(await run('3\n', 'No')).toMatchObject({
      status: 200,
      pullRequest: null,
      problem: expect.stringContaining('may not open a pull request') as string,
    });
    hub.failure = {
      status: 201,
      body: { html_url: 'javascript:alert(1)', web_url: 'x', number: 1, iid: 1 },
    };
    expect(await run('4\n', 'Evil')).toMatchObject({ pullRequest: null });
  });
});

describe.each(sampled(1, hosts))('a pull request from a fork on %s', (kind) => {
  it('goes into the repository that was cloned, and is found there again', async () => {
    const { session, url } = await cloned();
    const fork = `ada/${kind}`;
    git.publish(`${fork}.git`, scene.source);
    const { hub, repository } = await hubOf(kind, url, fork);
    const run = async (content: string) => {
      edit((work) => put(work, 'a.txt', content));
      const target = { url: git.url(`${fork}.git`), branch: 'main-too' };
      const { id, pullRequests, into } = await prepare(session, target);
      expect({ pullRequests, into }).toEqual({ pullRequests: true, into: url });
      const pullRequest = { title: 'Add a', body: 'Why' };
      return publish(session, { ...target, id, message: 'm', pullRequest });
    };
    expect(await run('1\n')).toMatchObject({
      problem: null,
      url: git.url(`${fork}.git`),
      pullRequest: { number: 1, isNew: true, url: expect.stringContaining(repository) as string },
      branchPage: expect.stringContaining(fork) as string,
    });
    const head = kind === 'gitlab' ? 'main-too' : 'ada:main-too';
    expect(hub.opened).toMatchObject([{ head, base: 'main', forked: kind === 'gitlab' }]);
    expect(await run('2\n')).toMatchObject({ pullRequest: { number: 1, isNew: false } });
  });
});

describe.each(sampled(1, hosts))('a published session on %s', (kind) => {
  it('knows its pull request, and how it stands, through every update', async () => {
    const { session, url, bare } = await cloned();
    const { hub } = await hubOf(kind, url);
    const status = async () => {
      const path = `/api/sessions/${session}/pull-request`;
      return (await belay.json<{ pullRequest: PullRequestStatus | null }>('GET', path)).pullRequest;
    };
    const summary = () => belay.json<SessionSummary>('GET', `/api/sessions/${session}`);
    const push = async (content: string, more: object = {}) => {
      edit((work) => put(work, 'a.txt', content));
      const { id } = await prepare(session, { branch: 'agent/x' });
      return publish(session, { branch: 'agent/x', id, message: 'm', ...more });
    };
    expect((await summary()).published).toBeNull();
    expect(await status()).toBeNull();
    await push('1\n', { pullRequest: { title: 'Add a', body: '' } });
    const pullRequest = {
      number: 1,
      into: url,
      url: expect.stringContaining(pullRequestPage) as string,
    };
    const known = { url, branch: 'agent/x', base: 'main', pullRequest };
    expect((await summary()).published).toMatchObject(known);
    const [opened] = hub.opened;
    if (!opened) throw new Error('Nothing was opened.');
    const shown = { number: 1, title: 'Add a', state: 'open', checks: 'none' };
    expect(await status()).toMatchObject(shown);
    // A host is not asked again at once.
    opened.state = 'merged';
    expect(await status()).toMatchObject({ state: 'open' });
    const { commit } = await push('2\n');
    expect((await summary()).published).toMatchObject({ ...known, commit });
    expect(gitIn(bare, 'log', '--format=%s', 'agent/x')).toBe('m\nm\nfirst\n');
    expect(hub.opened).toHaveLength(1);
  });
});

describe.each(sampled(1, hosts))('a pull request on %s', (kind) => {
  it.each(
    sampled(1, [
      ['merged', 'success', { state: 'merged', checks: 'passed' }],
      ['open', null, { state: 'open', checks: 'none' }],
      ['open', 'pending', { state: 'open', checks: 'running' }],
      ['open', 'failure', { state: 'open', checks: 'failed' }],
      ['closed', null, { state: 'closed', checks: 'none' }],
    ]),
  )('that is %s with checks %j is shown so', async (state, checks, expected) => {
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

  it.each(
    sampled(1, [
      ['failed', { passedRuns: 60, checks: 'failure' }],
      ['passed', { passedRuns: 60, checks: 'success' }],
      ['unknown', { passedRuns: 200, checks: 'failure' }],
    ]),
  )('are %s with %j, however many runs there are', async (checks, change) => {
    expect(await statusOf('github', change)).toMatchObject({ pullRequest: { checks } });
  });

  it.each(
    sampled(1, [
      ['github', /check-runs/],
      ['github', /commits/],
      ['gitea', /commits/],
    ]),
  )('at %s are unknown if the token may not read %s', async (kind, forbidden) => {
    const change = { state: 'merged', checks: 'success' } as const;
    expect(await statusOf(kind, change, forbidden)).toMatchObject({
      pullRequest: { number: 1, title: 'Add a', state: 'merged', checks: 'unknown' },
    });
  });

  itLong('do not matter to a merge in progress, which is still open', async () => {
    const change = { state: 'locked', checks: 'success' } as const;
    expect(await statusOf('gitlab', change)).toMatchObject({
      pullRequest: { state: 'open', checks: 'passed' },
    });
  });
});

it('a host whose response makes no sense, and a viewer, are told so in one sentence', async () => {
  const { hub, path, shown } = await withPullRequest('gitea');
  hub.failure = { status: 200, body: { html_url: 'javascript:alert(1)', state: 'open' } };
  expect(await shown()).toMatchObject({
    status: 503,
    detail: expect.stringContaining('cannot be read') as string,
  });
  expect((await belay.fetch(path, { token: belay.viewerToken })).status).toBe(403);
});

describe('the author and the text', () => {
  it('are the user’s: those of the session, of the request, and Belay only commits', async () => {
    const { url, bare } = scene.repository();
    const gitIdentity = { name: 'Ada', email: 'ada@example.com' };
    const session = await belay.session({ repository: { url }, gitIdentity });
    edit((work) => put(work, 'a.txt', 'a\n'));
    const { id, author } = await prepare(session, { branch: 'x' });
    expect(author).toEqual(gitIdentity);
    await publish(session, { branch: 'x', id, message: 'm' });
    const by = (branch: string) =>
      gitIn(bare, 'log', '-1', '--format=%an <%ae>|%cn <%ce>', branch).trim();
    expect(by('x')).toBe('Ada <ada@example.com>|Belay <belay@localhost>');
    const other = await prepare(session, { branch: 'y' });
    const eve = { name: 'Eve', email: 'eve@example.com' };
    await publish(session, { branch: 'y', id: other.id, message: 'm', author: eve });
    expect(by('y')).toBe('Eve <eve@example.com>|Belay <belay@localhost>');
    const forged = { name: 'x>\nparent 0', email: 'x' };
    const refused = await publish(session, { branch: 'y', id, message: 'm', author: forged });
    expect(refused.status).toBe(400);
  });
});

describe('the message', () => {
  it('is the model’s where it has one, and plain without', async () => {
    const { session } = await cloned();
    edit((work) => put(work, 'a.txt', 'a\n'));
    const draft = () => belay.json('POST', `/api/sessions/${session}/publish/message`);
    expect(await draft()).toMatchObject({ message: 'Fix', model: null });
    let asked = '';
    const model = (_: string, text: string) => {
      asked = text;
      return Promise.resolve({ text: '```\nAdd a\u202e\n```', model: 'openai:x' });
    };
    Object.assign(belay.models, { draft: model });
    expect(await draft()).toMatchObject({ message: 'Add a<U+202E>', model: 'openai:x' });
    expect(asked).toContain('+a\n');
    Object.assign(belay.models, { draft: () => Promise.reject(new Error('no key')) });
    expect(await draft()).toMatchObject({ message: 'Fix', model: null });
  });
});
