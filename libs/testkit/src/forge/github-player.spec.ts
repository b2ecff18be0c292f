import { createHmac } from 'node:crypto';
import { callForge } from './call-forge.js';
import { githubSecondaryLimit } from './github-answers.js';
import { HookReceiver } from './hook-receiver.js';
import { startForge, type PlayedForge } from './start-forge.js';

type Json = Record<string, unknown>;

let forge: PlayedForge;
let receiver: HookReceiver;

beforeEach(async () => {
  receiver = await new HookReceiver().start();
  forge = await startForge('github', { repository: 'acme/api' });
  forge.state.addUser('ada', { level: 'maintain' });
  forge.state.addUser('eve');
});
afterEach(async () => {
  await forge.close();
  await receiver.close();
});

const call = (path: string, options?: Parameters<typeof callForge>[2]) =>
  callForge(forge, path, options);

const repo = 'repos/acme/api';

/** A pull request that changes the second line of `src/sum.js`. */
function pullRequest(by = 'ada') {
  const files = { 'src/sum.js': 'export function sum(a, b) {\n  return a + b;\n}\n' };
  const sha = forge.state.push('fix', { by, files });
  return { pull: forge.state.openPull({ by, branch: 'fix', title: 'Fix sum' }), sha };
}

const addHook = (config: Json = {}) =>
  call(`${repo}/hooks`, {
    method: 'POST',
    body: {
      name: 'web',
      events: ['*'],
      config: { url: receiver.url, content_type: 'json', secret: 's3cret', ...config },
    },
  });

const bodies = () => receiver.received.map(({ json }) => json);
const names = () => receiver.received.map(({ headers }) => headers['x-github-event']);

describe('the played GitHub', () => {
  it('says who may do what, and who is not a user', async () => {
    forge.state.addUser('Copilot', { kind: 'bot' });
    forge.state.addUser('ci[bot]', { kind: 'bot' });
    const permission = async (name: string) => {
      const { status, json } = await call(`${repo}/collaborators/${name}/permission`);
      return status === 200 ? [json['role_name'], json['permission']] : [status, json['message']];
    };
    expect(await permission('ada')).toEqual(['maintain', 'write']);
    expect(await permission('eve')).toEqual(['read', 'read']);
    expect(await permission('ci[bot]')).toEqual(['none', 'none']);
    expect(await permission('Copilot')).toEqual([404, 'Copilot is not a user']);
    expect(await permission('mallory')).toEqual([404, 'mallory is not a user']);
  });

  it('refuses a wrong token', async () => {
    const headers = { authorization: 'Bearer other' };
    const { status, json } = await call('user', { headers });
    expect([status, json['message']]).toEqual([401, 'Bad credentials']);
    expect((await call('user')).json['login']).toBe('belay-bot');
  });

  it('sends signed webhooks with the fields of its documentation', async () => {
    expect((await addHook()).json['config']).toMatchObject({ secret: '********' });
    const issue = forge.state.openIssue({ by: 'eve', title: 'Sum is wrong', body: 'It subtracts' });
    forge.state.label(issue, 'belay', { by: 'ada' });
    forge.state.comment(issue, '/belay fix', { by: 'ada' });
    await forge.hooks.idle();
    expect(names()).toEqual(['ping', 'issues', 'issues', 'issue_comment']);
    const [, , labelled, comment] = bodies();
    expect(labelled).toMatchObject({
      action: 'labeled',
      label: { name: 'belay' },
      issue: { number: 1, user: { login: 'eve', type: 'User' }, labels: [{ name: 'belay' }] },
      repository: { full_name: 'acme/api', default_branch: 'main' },
      sender: { login: 'ada' },
    });
    expect(comment).toMatchObject({ action: 'created', comment: { body: '/belay fix' } });
    for (const { headers, text: body } of receiver.received) {
      const hex = createHmac('sha256', 's3cret').update(body).digest('hex');
      expect(headers['x-hub-signature-256']).toBe(`sha256=${hex}`);
    }
  });

  it('loses, repeats, reorders and mis-signs deliveries on demand, and sends again', async () => {
    await addHook();
    const fates = ['drop', 'hold', 'twice', 'mis-sign'] as const;
    let n = 0;
    forge.hooks.fate = () => fates[n++] ?? 'send';
    for (const title of ['dropped', 'held', 'twice', 'forged'])
      forge.state.openIssue({ by: 'ada', title });
    forge.hooks.letGo();
    await forge.hooks.idle();
    const titles = () => bodies().map((body) => (body['issue'] as Json | undefined)?.['title']);
    expect(titles()).toEqual([undefined, 'twice', 'twice', 'forged', 'held']);
    const wrong = receiver.received[3];
    const hex = createHmac('sha256', 's3cret')
      .update(wrong?.text ?? '')
      .digest('hex');
    expect(wrong?.headers['x-hub-signature-256']).not.toBe(`sha256=${hex}`);
    const dropped = forge.hooks.deliveries.find(({ error }) => error === 'dropped');
    forge.hooks.redeliver(dropped?.id ?? 0);
    await forge.hooks.idle();
    expect(titles().at(-1)).toBe('dropped');
    expect(receiver.received.at(-1)?.headers['x-github-delivery']).toBe(dropped?.guid);
  });

  it('tells of pushes, checks and releases', async () => {
    await addHook();
    const { sha } = pullRequest();
    forge.state.setChecks(sha, [{ name: 'test', state: 'pending' }]);
    forge.state.setChecks(sha, [{ name: 'test', state: 'failed', summary: '1 failed' }]);
    forge.state.setChecks(sha, [{ name: 'deploy', state: 'passed', kind: 'status' }]);
    forge.state.publishRelease({ by: 'ada', tag: 'v1' });
    await forge.hooks.idle();
    const pushed = ['ping', 'create', 'push', 'pull_request'];
    const checked = ['check_run', 'check_run', 'check_suite', 'workflow_run', 'status'];
    const released = ['create', 'push', 'release', 'release', 'release'];
    expect(names()).toEqual([...pushed, ...checked, ...released]);
    expect(bodies()[6]).toMatchObject({
      check_suite: { conclusion: 'failure', head_sha: sha, head_branch: 'fix' },
    });
    const runs = await call(`${repo}/commits/${sha}/check-runs`);
    expect(runs.json).toMatchObject({ total_count: 1, check_runs: [{ conclusion: 'failure' }] });
    const status = await call(`${repo}/commits/${sha}/status`);
    expect(status.json).toMatchObject({ state: 'success', statuses: [{ context: 'deploy' }] });
  });

  it('refuses a review with a line outside the change, and takes the rest', async () => {
    const { pull, sha } = pullRequest();
    const review = (line: number) =>
      call(`${repo}/pulls/${pull.number}/reviews`, {
        method: 'POST',
        body: {
          commit_id: sha,
          event: 'COMMENT',
          comments: [{ path: 'src/sum.js', line, side: 'RIGHT', body: 'here' }],
        },
      });
    const refused = await review(40);
    expect(refused.status).toBe(422);
    expect(refused.json['errors']).toEqual(['Line could not be resolved']);
    expect((await review(2)).status).toBe(200);
    const lines = await call(`${repo}/pulls/comments`);
    expect(lines.json).toMatchObject([{ path: 'src/sum.js', line: 2, side: 'RIGHT' }]);
    const first = String(lines.json[0]?.['id']);
    const replies = `${repo}/pulls/${pull.number}/comments/${first}/replies`;
    const reply = await call(replies, { method: 'POST', body: { body: 'Done' } });
    expect([reply.status, reply.json['in_reply_to_id']]).toEqual([201, lines.json[0]?.['id']]);
  });

  it('opens pull requests once, from its branches and forks, and follows pushes', async () => {
    const fork = forge.state.fork({ by: 'eve' });
    forge.state.push('mine', { by: 'eve', fork, files: { 'b.txt': 'b\n' } });
    const open = (head: string) =>
      call(`${repo}/pulls`, { method: 'POST', body: { title: 'T', head, base: 'main' } });
    expect((await open('eve:nowhere')).json['errors']).toMatchObject([{ field: 'head' }]);
    const made = await open('eve:mine');
    expect(made.json).toMatchObject({ head: { label: 'eve:mine', repo: { fork: true } } });
    expect((await open('eve:mine')).json['errors']).toMatchObject([
      { message: 'A pull request already exists for eve:mine.' },
    ]);
    const sha = forge.state.push('mine', { by: 'eve', fork, files: { 'b.txt': 'c\n' } });
    const now = await call(`${repo}/pulls/1`);
    expect(now.json).toMatchObject({ head: { sha }, merged: false, mergeable: true });
    expect(await call(`${repo}/pulls/1/merge`, { method: 'PUT', body: { sha } })).toMatchObject({
      status: 200,
    });
    expect((await call(`${repo}/pulls/1`)).json).toMatchObject({ merged: true, state: 'closed' });
    forge.state.deleteFork(fork);
    expect((await call(`${repo}/pulls/1`)).json['head']).toMatchObject({ repo: null });
  });

  it('pages lists, answers 304, counts requests and redirects what was renamed', async () => {
    for (const title of ['a', 'b', 'c']) forge.state.openIssue({ by: 'ada', title });
    const first = await call(`${repo}/issues?per_page=2`);
    const [next] = /<[^>]+>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    expect(next).toContain('page=2');
    const etag = first.headers.get('etag') ?? '';
    const left = first.headers.get('x-ratelimit-remaining');
    const again = await call(`${repo}/issues?per_page=2`, { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.get('x-ratelimit-remaining')]).toEqual([304, left]);
    forge.state.rename('acme/renamed');
    const moved = await call(`${repo}/issues`);
    expect(moved.status).toBe(301);
    const path = (moved.headers.get('location') ?? '').slice(forge.api.length + 1);
    expect((await call(path)).json).toHaveLength(3);
    forge.player.limits.remaining = 0;
    expect((await call(path)).status).toBe(403);
  });

  it('fails on demand', async () => {
    forge.player.fail = { status: 502, paths: /issues$/, times: 1, body: '<html></html>' };
    expect((await fetch(`${forge.api}/${repo}/issues`)).status).toBe(502);
    expect((await call(`${repo}/issues`)).status).toBe(200);
    forge.player.fail = githubSecondaryLimit(60);
    const limited = await call('user');
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([403, '60']);
  });
});
