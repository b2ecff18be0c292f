import { ForgeBench } from './testing/forge-bench.js';
import { gitlabJob, gitlabMember, gitlabAccount } from './gitlab-shapes.js';

const bench = new ForgeBench();
beforeAll(async () => {
  await bench.start('gitlab', { repository: 'acme/group/api' });
  bench.played.state.addUser('ada', { level: 'write' });
});
afterAll(() => bench.close());
afterEach(() => {
  bench.played.player.fail = undefined;
});

it('opens projects of nested groups, by names only', async () => {
  expect((await bench.open().repository()).path).toBe('acme/group/api');
  expect(() => bench.open('acme')).toThrow(/OWNER\/NAME/);
  expect(() => bench.open('acme/../api')).toThrow(/OWNER\/NAME/);
  expect(() => bench.open('acme/api?x=1')).toThrow(/address/);
});

it.each([
  [{ username: 'project_12_bot_9f', bot: null }, true],
  [{ username: 'group_7_bot' }, true],
  [{ username: 'service_account_group_1' }, true],
  [{ username: 'ada', bot: true }, true],
  [{ username: 'ada', bot: false }, false],
  [{ username: 'project_manager_bot' }, false],
])('%j is a bot: %s', (user, isBot) => {
  expect(gitlabAccount.parse({ id: 7, ...user })).toMatchObject({ isBot });
});

it.each([
  [{ access_level: 50, state: 'active' }, 'admin'],
  [{ access_level: 40, state: 'active' }, 'maintain'],
  [{ access_level: 30, state: 'active' }, 'write'],
  [{ access_level: 25, state: 'active' }, 'triage'],
  [{ access_level: 10, state: 'active' }, 'read'],
  [{ access_level: 5, state: 'active' }, 'none'],
  [{ access_level: 0, state: 'active' }, 'none'],
  [{ access_level: 50, state: 'blocked' }, 'none'],
  [{ access_level: 50 }, 'none'],
  [{ access_level: 50, state: 'active', membership_state: 'awaiting' }, 'none'],
])('%j is %s', (member, level) => {
  expect(gitlabMember.parse({ id: 7, ...member }).level).toBe(level);
});

it.each([
  [{ status: 'failed' }, 'failed'],
  [{ status: 'failed', allow_failure: true }, 'skipped'],
  [{ status: 'manual' }, 'skipped'],
  [{ status: 'canceled' }, 'failed'],
  [{ status: 'waiting_for_resource' }, 'pending'],
  [{ status: 'constructor' }, 'pending'],
])('a job that is %j counts as %s', (job, state) => {
  expect(gitlabJob.parse({ name: 'test', ...job }).state).toBe(state);
});

it('attacks: tells nothing of confidential issues', async () => {
  const { state } = bench.played;
  const hidden = state.openIssue({ by: 'ada', title: 'Key leaked', isConfidential: true });
  const open = state.openIssue({ by: 'ada', title: 'Sum is wrong' });
  const refused = bench.open().issue(hidden.number);
  await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
  expect((await bench.open().issue(open.number)).title).toBe('Sum is wrong');
});

it('attacks: a user who was blocked may nothing', async () => {
  const cleo = bench.played.state.addUser('cleo', { level: 'admin' });
  expect(await bench.open().level(bench.user('cleo'))).toBe('admin');
  cleo.isBlocked = true;
  expect(await bench.open().level(bench.user('cleo'))).toBe('none');
});

it('goes on with a review that broke off, without a second thread', async () => {
  const { pull, sha } = bench.pull('ada');
  const forge = bench.open();
  const line = { path: 'src/sum.js', side: 'new' as const };
  const review = {
    sha,
    body: 'Three remarks.',
    comments: [
      { ...line, line: 1, body: 'Same.' },
      { ...line, line: 2, body: 'Same.' },
      { ...line, line: 2, side: 'old' as const, body: 'Gone.' },
    ],
  };
  // The host ends at the summary.
  bench.played.player.fail = { status: 502, method: 'POST', paths: /notes$/ };
  await expect(forge.addReview(pull.number, review)).rejects.toMatchObject({ code: 'unavailable' });
  expect(pull.pull.threads).toHaveLength(3);
  bench.played.player.fail = undefined;
  const sent = await forge.addReview(pull.number, review);
  expect(pull.pull.threads).toHaveLength(3);
  expect(pull.comments).toMatchObject([{ id: Number(sent.id), body: 'Three remarks.' }]);
});

it('reviews only the commit that it was asked to', async () => {
  const { state } = bench.played;
  state.addUser('dan', { level: 'write' });
  const { pull, sha, branch } = bench.pull('dan');
  const moved = state.push(branch, { by: 'dan', files: { 'b.js': '1\n' } });
  const review = (at: string) =>
    bench.open().addReview(pull.number, { sha: at, body: 'x', comments: [] });
  await expect(review(sha)).rejects.toMatchObject({ code: 'rejected' });
  expect((await review(moved)).id).not.toBe('');
});

it('does not split labels at commas', async () => {
  const issue = bench.played.state.openIssue({ by: 'ada', title: 'x', labels: ['keep'] });
  const subject = { number: issue.number, isPull: false };
  const change = { add: ['a,b'], remove: [] };
  await expect(bench.open().changeLabels(subject, change)).rejects.toMatchObject({
    code: 'rejected',
  });
  expect(issue.labels).toEqual(['keep']);
});

it('numbers issues and merge requests apart', async () => {
  const { state } = bench.played;
  state.addUser('fay', { level: 'write' });
  const { pull } = bench.pull('fay');
  const comment = state.comment(pull, 'On the merge request', { by: 'ada' });
  const forge = bench.open();
  const at = { number: pull.number, isPull: true };
  expect(await forge.comment(at, String(comment.id))).toMatchObject({ author: bench.user('ada') });
  const elsewhere = forge.comment({ ...at, isPull: false }, String(comment.id));
  await expect(elsewhere).rejects.toMatchObject({ code: 'not_found' });
});
