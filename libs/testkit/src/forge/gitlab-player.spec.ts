import { createHmac } from 'node:crypto';
import { callForge } from './call-forge.js';
import { HookReceiver } from './hook-receiver.js';
import { startForge, type PlayedForge } from './start-forge.js';

let forge: PlayedForge;
let receiver: HookReceiver;

beforeEach(async () => {
  receiver = await new HookReceiver().start();
  forge = await startForge('gitlab', { repository: 'acme/tools/api' });
  forge.state.addUser('ada', { level: 'write' });
  forge.state.addUser('eve');
});
afterEach(async () => {
  await forge.close();
  await receiver.close();
});

const call = (path: string, options?: Parameters<typeof callForge>[2]) =>
  callForge(forge, path, options);

const project = `projects/${encodeURIComponent('acme/tools/api')}`;

const files = { 'src/sum.js': 'export function sum(a, b) {\n  return a + b;\n}\n' };

/** A merge request that changes the second line of `src/sum.js`. */
function mergeRequest() {
  forge.state.push('fix', { by: 'ada', files });
  return forge.state.openPull({ by: 'ada', branch: 'fix', title: 'Fix sum' });
}

const events = ['push', 'tag_push', 'issues', 'note', 'merge_requests', 'pipeline', 'releases'];

const addHook = (more: object) => {
  const wanted = Object.fromEntries(events.map((name) => [`${name}_events`, true]));
  return call(`${project}/hooks`, {
    method: 'POST',
    body: { url: receiver.url, ...wanted, ...more },
  });
};

const bodies = () => receiver.received.map(({ json }) => json);
const names = () => receiver.received.map(({ headers }) => headers['x-gitlab-event']);

describe('the played GitLab', () => {
  it('says the role of members, and does not know others', async () => {
    const member = async (name: string) =>
      (await call(`${project}/members/all/${forge.state.who(name).id}`)).json;
    expect(await member('ada')).toMatchObject({ access_level: 30, state: 'active' });
    expect(await member('eve')).toEqual({ message: '404 Not found' });
    forge.state.who('ada').isBlocked = true;
    expect(await member('ada')).toMatchObject({ access_level: 30, state: 'blocked' });
  });

  it('counts issues and merge requests apart, and sends its token', async () => {
    const made = await addHook({ token: 's3cret' });
    expect(made.json).toMatchObject({ issues_events: true, job_events: false });
    expect(JSON.stringify(made.json)).not.toContain('s3cret');
    const issue = forge.state.openIssue({ by: 'eve', title: 'Sum is wrong', labels: ['bug'] });
    forge.state.label(issue, 'belay', { by: 'ada' });
    forge.state.comment(issue, '/belay fix', { by: 'ada' });
    const secret = forge.state.openIssue({ by: 'ada', title: 'Secret', isConfidential: true });
    const pull = mergeRequest();
    await forge.hooks.idle();
    expect([issue.number, secret.number, pull.number]).toEqual([1, 2, 1]);
    const told = ['Issue Hook', 'Issue Hook', 'Note Hook', 'Push Hook', 'Merge Request Hook'];
    expect(names()).toEqual(told);
    expect(receiver.received.map(({ headers }) => headers['x-gitlab-token'])).toEqual(
      told.map(() => 's3cret'),
    );
    expect(bodies()[1]).toMatchObject({
      object_kind: 'issue',
      user: { username: 'ada', email: '[REDACTED]' },
      object_attributes: { action: 'update', iid: 1, state: 'opened' },
      changes: { labels: { previous: [{ title: 'bug' }], current: [{}, { title: 'belay' }] } },
    });
    expect(bodies()[2]).toMatchObject({
      object_attributes: { action: 'create', noteable_type: 'Issue', note: '/belay fix' },
      issue: { iid: 1 },
    });
  });

  it('signs with the newer secret what its pipelines did', async () => {
    const key = Buffer.from('a key of thirty-two bytes, or so.');
    await addHook({ signing_token: `whsec_${key.toString('base64')}` });
    const { sha } = mergeRequest().pull;
    forge.state.setChecks(sha, [{ name: 'test', state: 'failed', summary: 'not ok 1' }]);
    await forge.hooks.idle();
    const { headers, text, json } = receiver.last();
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`;
    const signature = createHmac('sha256', key).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(headers['webhook-id']).toBe(headers['idempotency-key']);
    expect(json).toMatchObject({
      object_attributes: { status: 'failed', sha, ref: 'fix' },
      merge_request: null,
      builds: [{ name: 'test', status: 'failed' }],
    });
    const merge = await call(`${project}/merge_requests/1`);
    expect(merge.json).toMatchObject({ head_pipeline: { status: 'failed' }, sha });
    const { id } = json['object_attributes'] as { id: number };
    const jobs = await call(`${project}/pipelines/${id}/jobs`);
    expect(jobs.json).toMatchObject([{ name: 'test', status: 'failed' }]);
  });

  it('takes comments on lines with the numbers and commits of now', async () => {
    const pull = mergeRequest();
    const { json } = await call(`${project}/merge_requests/1`);
    const path = { old_path: 'src/sum.js', new_path: 'src/sum.js', position_type: 'text' };
    const refs = json['diff_refs'] as object;
    const discussions = `${project}/merge_requests/1/discussions`;
    const start = (line: object) => {
      const position = { ...refs, ...path, ...line };
      return call(discussions, { method: 'POST', body: { body: 'here', position } });
    };
    expect((await start({ new_line: 2 })).status).toBe(201);
    expect((await start({ old_line: 2 })).status).toBe(201);
    expect((await start({ new_line: 1, old_line: 1 })).status).toBe(201);
    expect((await start({ new_line: 1 })).status).toBe(400);
    expect((await start({ new_line: 40 })).status).toBe(400);
    forge.state.push('fix', { by: 'ada', files: { 'b.txt': 'b\n' } });
    expect((await start({ new_line: 2 })).status).toBe(400);
    const found = await call(discussions);
    const id = String(found.json[0]?.['id']);
    const reply = await call(`${discussions}/${id}/notes`, {
      method: 'POST',
      body: { body: 'Done' },
    });
    expect(reply.json).toMatchObject({ type: 'DiffNote', resolvable: true, resolved: false });
    expect(pull.pull.threads[0]?.comments).toHaveLength(2);
    await call(`${discussions}/${id}?resolved=true`, { method: 'PUT' });
    expect(pull.pull.threads[0]?.isResolved).toBe(true);
  });

  it('refuses a second reaction and a second merge request in its own words', async () => {
    forge.state.openIssue({ by: 'eve', title: 'Sum is wrong' });
    const react = () =>
      call(`${project}/issues/1/award_emoji`, { method: 'POST', body: { name: 'eyes' } });
    expect((await react()).status).toBe(201);
    const again = await react();
    expect(again.status).toBe(404);
    expect(String(again.json['message'])).toContain('Name has already been taken');
    mergeRequest();
    const body = { title: 'T', source_branch: 'fix', target_branch: 'main' };
    const second = await call(`${project}/merge_requests`, { method: 'POST', body });
    expect(second).toMatchObject({
      status: 409,
      json: { message: ['Another open merge request already exists for this source branch: !1'] },
    });
  });

  it('opens merge requests from forks, which can be deleted', async () => {
    const fork = forge.state.fork({ by: 'eve' });
    forge.state.push('mine', { by: 'eve', fork, files });
    const of = await call(`projects/${encodeURIComponent(fork.path)}`);
    expect(of.json).toMatchObject({ id: fork.id });
    const { json } = await call(project);
    const target = { target_branch: 'main', target_project_id: json['id'] };
    const made = await call(`projects/${fork.id}/merge_requests`, {
      method: 'POST',
      body: { title: 'Draft: T', source_branch: 'mine', ...target },
    });
    expect(made.json).toMatchObject({ iid: 1, draft: true, source_project_id: fork.id });
    forge.state.deleteFork(fork);
    const merge = await call(`${project}/merge_requests/1`);
    expect(merge.json['source_project_id']).toBeNull();
  });

  it('lists what changed, in pages, and redirects what was renamed', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    forge.state.now = () => (now += 60_000);
    for (const title of ['a', 'b', 'c']) forge.state.openIssue({ by: 'ada', title });
    const since = encodeURIComponent(new Date(now).toISOString());
    const changed = await call(`${project}/issues?updated_after=${since}`);
    expect(changed.json.map(({ title }) => title)).toEqual(['c']);
    const page = await call(`${project}/issues?per_page=2`);
    expect([page.headers.get('x-next-page'), page.headers.get('x-total')]).toEqual(['2', '3']);
    forge.state.rename('acme/tools/renamed');
    const moved = await call(`${project}/issues`);
    expect([moved.status, moved.headers.get('location')]).toEqual([
      301,
      `${forge.api}/projects/${forge.state.id}/issues`,
    ]);
    forge.player.limits.remaining = 0;
    const limited = await call('user');
    expect([limited.status, limited.json['text']]).toEqual([429, 'Retry later\n']);
  });
});
