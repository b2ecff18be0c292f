import { createHmac } from 'node:crypto';
import { callForge } from './call-forge.js';
import { HookReceiver } from './hook-receiver.js';
import { startForge, type PlayedForge } from './start-forge.js';

let forge: PlayedForge;
let receiver: HookReceiver;

const begin = async (isForgejo = false) => {
  forge = await startForge('gitea', { repository: 'acme/api', isForgejo });
  forge.state.addUser('ada', { level: 'write' });
  forge.state.addUser('eve');
};

beforeEach(async () => {
  receiver = await new HookReceiver().start();
});
afterEach(async () => {
  await forge.close();
  await receiver.close();
});

const call = (path: string, options?: Parameters<typeof callForge>[2]) =>
  callForge(forge, path, options);

const repo = 'repos/acme/api';

const addHook = (more: object = {}) =>
  call(`${repo}/hooks`, {
    method: 'POST',
    body: {
      type: 'gitea',
      active: true,
      events: ['issues', 'pull_request', 'push', 'status', 'workflow_run', 'action_run_failure'],
      config: { url: receiver.url, content_type: 'json', secret: 's3cret' },
      ...more,
    },
  });

function pullRequest() {
  const files = { 'src/sum.js': 'export function sum(a, b) {\n  return a + b;\n}\n' };
  forge.state.push('fix', { by: 'ada', files });
  return forge.state.openPull({ by: 'ada', branch: 'fix', title: 'Fix sum' });
}

const types = () => receiver.received.map(({ headers }) => headers['x-gitea-event-type']);
const names = () => receiver.received.map(({ headers }) => headers['x-gitea-event']);

describe('the played Gitea', () => {
  it('says permissions only to admins of the repository', async () => {
    await begin();
    const permission = async (name: string) => {
      const { status, json } = await call(`${repo}/collaborators/${name}/permission`);
      return [status, json['permission']];
    };
    expect(await permission('ada')).toEqual([200, 'write']);
    expect(await permission('eve')).toEqual([200, 'read']);
    expect((await permission('mallory'))[0]).toBe(404);
    forge.state.self.level = 'write';
    expect((await permission('ada'))[0]).toBe(403);
    expect(await permission('belay-bot')).toEqual([200, 'write']);
  });

  it('sends exact types beside coarse names, signed', async () => {
    await begin();
    await addHook();
    const issue = forge.state.openIssue({ by: 'eve', title: 'Sum is wrong', labels: ['bug'] });
    forge.state.label(issue, 'belay', { by: 'ada' });
    forge.state.comment(issue, '/belay fix', { by: 'ada' });
    const pull = pullRequest();
    forge.state.push('fix', { by: 'ada', files: { 'b.txt': 'b\n' } });
    forge.state.comment(pull, 'Look', { by: 'eve' });
    forge.state.review(pull, { by: 'ada', verdict: 'changes', body: 'No' });
    await forge.hooks.idle();
    const issues = ['issues', 'issue_label', 'issue_comment'];
    const pulls = ['push', 'pull_request', 'push', 'pull_request_sync', 'pull_request_comment'];
    expect(types()).toEqual([...issues, ...pulls, 'pull_request_review_rejected']);
    expect(names().slice(1, 3)).toEqual(['issues', 'issue_comment']);
    expect(names().slice(-3)).toEqual(['pull_request', 'issue_comment', 'pull_request_rejected']);
    expect(receiver.received[1]?.json).toMatchObject({
      action: 'label_updated',
      issue: { number: 1, labels: [{ name: 'bug' }, { name: 'belay' }] },
      sender: { login: 'ada' },
    });
    const { headers, text, json } = receiver.last();
    const hex = createHmac('sha256', 's3cret').update(text).digest('hex');
    expect(headers['x-gitea-signature']).toBe(hex);
    expect(headers['x-forgejo-signature']).toBeUndefined();
    expect(json).toMatchObject({ action: 'reviewed', review: { content: 'No' }, number: 2 });
  });

  it('is Forgejo with the headers of all its ancestors', async () => {
    await begin(true);
    await addHook();
    const { sha } = pullRequest().pull;
    forge.state.setChecks(sha, [{ name: 'test', state: 'failed' }]);
    await forge.hooks.idle();
    const { headers, json } = receiver.last();
    expect(headers['x-forgejo-event-type']).toBe('action_run_failure');
    for (const name of ['forgejo', 'gitea', 'gogs', 'github'])
      expect(headers[`x-${name}-delivery`]).toBe(headers['x-forgejo-delivery']);
    expect(headers['x-gogs-signature']).toBe(headers['x-forgejo-signature']);
    expect(json).toMatchObject({ action: 'failure', run: { commit_sha: sha, status: 'failure' } });
  });

  it('has no state for a commit without statuses', async () => {
    await begin();
    const { sha } = pullRequest().pull;
    const status = () => call(`${repo}/commits/${sha}/status`);
    expect((await status()).json).toMatchObject({ state: '', statuses: null, total_count: 0 });
    forge.state.setChecks(sha, [{ name: 'test', state: 'passed', kind: 'status' }]);
    expect((await status()).json).toMatchObject({ state: 'success', total_count: 1 });
  });

  it('opens pull requests, finds them by branches, and takes comments on any line', async () => {
    await begin();
    const { number } = pullRequest();
    const found = await call(`${repo}/pulls/main/fix`);
    expect(found.json).toMatchObject({ number, head: { ref: 'fix' }, draft: false });
    const body = { title: 'WIP: T', head: 'fix', base: 'main' };
    expect((await call(`${repo}/pulls`, { method: 'POST', body })).status).toBe(409);
    const review = (line: number) =>
      call(`${repo}/pulls/${number}/reviews`, {
        method: 'POST',
        body: {
          event: 'COMMENT',
          comments: [{ path: 'src/sum.js', new_position: line, body: 'here' }],
        },
      });
    const [one, far] = [await review(2), await review(40)];
    expect([one.status, far.status]).toEqual([200, 200]);
    const again = await review(2);
    const lines = `${repo}/pulls/${number}/reviews/${String(again.json['id'])}/comments`;
    expect((await call(lines)).json).toMatchObject([{ position: 2, original_position: 0 }]);
    expect(forge.state.pulls[0]?.pull.threads).toHaveLength(2);
  });

  it('knows labels by number, and keeps what happened in the timeline', async () => {
    await begin();
    const issue = forge.state.openIssue({ by: 'eve', title: 'Sum is wrong' });
    const add = (labels: unknown[]) =>
      call(`${repo}/issues/1/labels`, { method: 'POST', body: { labels } });
    expect((await add(['belay'])).json).toEqual([]);
    const made = { name: 'belay', color: '#ff0000' };
    const { json } = await call(`${repo}/labels`, { method: 'POST', body: made });
    await add([json['id']]);
    expect(issue.labels).toEqual(['belay']);
    const path = `${repo}/issues/1/labels/`;
    expect((await call(`${path}belay`, { method: 'DELETE' })).status).toBe(422);
    expect((await call(path + String(json['id']), { method: 'DELETE' })).status).toBe(204);
    const timeline = await call(`${repo}/issues/1/timeline`);
    expect(timeline.json).toMatchObject([
      { type: 'label', body: '1', label: { name: 'belay' } },
      { type: 'label', body: '' },
    ]);
  });

  it('sends nothing for a new hook that is not active, and only pushes after a bare change', async () => {
    await begin();
    const made = await addHook({ active: undefined });
    forge.state.openIssue({ by: 'eve', title: 'a' });
    await forge.hooks.idle();
    expect(receiver.received).toHaveLength(0);
    const hook = `${repo}/hooks/${String(made.json['id'])}`;
    await call(hook, { method: 'PATCH', body: { active: true } });
    forge.state.openIssue({ by: 'eve', title: 'b' });
    forge.state.push('main', { by: 'ada', files: { 'b.txt': 'b\n' } });
    await forge.hooks.idle();
    expect(types()).toEqual(['push']);
  });
});
