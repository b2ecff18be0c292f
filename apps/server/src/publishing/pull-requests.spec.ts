import { PullRequestServer, put } from '@belay/testkit';
import { GitScene } from '../testing/git-scene.js';

const scene = new GitScene();
const { belay, git, cloned, edit, prepare, publish } = scene;
beforeAll(() => scene.start());
afterAll(() => scene.close());
afterEach(() => {
  git.intercept = () => false;
});

describe.each(['github', 'gitlab', 'gitea'] as const)('a pull request on %s', (kind) => {
  it('is opened, found again, and its failure told beside the push', async () => {
    const { session, url } = await cloned();
    const repository = new URL(url).pathname.slice(1).replace('.git', '');
    const hub = new PullRequestServer(kind, {
      repository,
      token: git.token,
      page: 'https://git.example.com',
    });
    git.intercept = (request, response) => hub.handle(request, response);
    await belay.json('PUT', `/api/git/hosts/${git.host}`, { kind });
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
    expect(hub.opened).toMatchObject([{ head: 'agent/x', base: 'main', body: 'Why', draft: true }]);
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

describe.each(['github', 'gitlab', 'gitea'] as const)(
  'a pull request from a fork on %s',
  (kind) => {
    it('goes into the repository that was cloned, and is found there again', async () => {
      const { session, url } = await cloned();
      const repository = new URL(url).pathname.slice(1).replace('.git', '');
      const fork = `ada/${kind}`;
      git.publish(`${fork}.git`, scene.source);
      const page = 'https://git.example.com';
      const hub = new PullRequestServer(kind, { repository, fork, token: git.token, page });
      git.intercept = (request, response) => hub.handle(request, response);
      await belay.json('PUT', `/api/git/hosts/${git.host}`, { kind });
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
  },
);

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
