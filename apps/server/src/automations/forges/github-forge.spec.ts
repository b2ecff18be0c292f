import { ForgeBench } from './testing/forge-bench.js';
import { githubPermission, githubAccount } from './github-shapes.js';

const bench = new ForgeBench();
beforeAll(async () => {
  await bench.start('github');
});
afterAll(() => bench.close());

describe('GitHub’s bots', () => {
  it.each([
    [{ login: 'dependabot[bot]', type: 'Bot' }, true],
    [{ login: 'Copilot', type: 'Bot' }, true],
    [{ login: 'Copilot', type: 'User' }, true],
    [{ login: 'github-actions' }, true],
    [{ login: 'acme', type: 'Organization' }, true],
    [{ login: 'ada', type: 'Bot' }, true],
    [{ login: 'robot', type: 'User' }, false],
    [{ login: 'ada' }, false],
  ])('%j: %s', (user, isBot) => {
    expect(githubAccount.parse({ id: 7, ...user })).toEqual({ id: '7', name: user.login, isBot });
  });

  it('have no permission of their own', async () => {
    bench.played.state.addUser('Copilot', { kind: 'bot' });
    const copilot = bench.user('Copilot');
    expect(await bench.open().level(copilot)).toBe('none');
  });
});

it.each([
  ['maintain', 'write', 'maintain'],
  ['triage', 'read', 'triage'],
  ['security-team', 'write', 'write'],
  ['security-team', 'read', 'read'],
  [null, 'admin', 'admin'],
  ['security-team', 'something', 'none'],
  ['__proto__', 'none', 'none'],
])('the role %s with the permission %s is %s', (role, permission, level) => {
  expect(githubPermission.parse({ role_name: role, permission, user: null }).level).toBe(level);
});

it('finds comments on issues and on lines by their number, never another’s', async () => {
  const { state } = bench.played;
  state.addUser('ada', { level: 'write' });
  const { pull } = bench.pull('ada');
  const { pull: other } = bench.pull('ada', { fork: true });
  state.review(pull, {
    by: 'ada',
    verdict: 'comment',
    lines: [{ path: 'src/sum.js', line: 2, body: 'Here' }],
  });
  const id = String(pull.pull.threads[0]?.id);
  const forge = bench.open();
  const subject = { number: pull.number, isPull: true };
  expect(await forge.comment(subject, id)).toMatchObject({ body: 'Here' });
  await forge.editComment(subject, id, 'There');
  expect(pull.pull.threads[0]?.comments[0]?.body).toBe('There');
  for (const wrong of [
    { number: other.number, isPull: true },
    { number: pull.number, isPull: false },
  ])
    await expect(forge.comment(wrong, id)).rejects.toMatchObject({ code: 'not_found' });
});

it('reads the jobs of Actions with a fine-grained token, which may not read check runs', async () => {
  const { sha } = bench.pull('belay-bot');
  const { git } = bench.played;
  const before = git.intercept;
  const jobs: Record<string, object[]> = {
    11: [{ name: 'old', status: 'completed', conclusion: 'failure', html_url: null }],
    12: [{ name: 'test', status: 'completed', conclusion: 'success', html_url: null }],
    13: [{ name: 'lint', status: 'in_progress', conclusion: null, html_url: null }],
  };
  let mayReadActions = true;
  git.intercept = (request, response) => {
    const url = request.url ?? '';
    const run = /\/actions\/runs\/(\d+)\/jobs/.exec(url)?.[1];
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
    if (url.includes('/check-runs'))
      return answer(403, { message: 'Resource not accessible by personal access token' });
    if (run) return answer(200, { jobs: jobs[run] });
    if (url.includes('/actions/runs'))
      return mayReadActions
        ? answer(200, {
            workflow_runs: [
              { id: 12, workflow_id: 1, event: 'push' },
              { id: 11, workflow_id: 1, event: 'push' },
              { id: 13, workflow_id: 2, event: 'push' },
            ],
          })
        : answer(403, { message: 'Resource not accessible by personal access token' });
    return before(request, response);
  };
  const forge = bench.open();
  bench.played.state.setChecks(sha, [{ name: 'deploy', state: 'failed', kind: 'status' }]);
  expect(await forge.checks(sha)).toMatchObject([
    { name: 'test', state: 'passed' },
    { name: 'lint', state: 'pending' },
    { name: 'deploy', state: 'failed' },
  ]);
  // Half of the checks is not all of them.
  mayReadActions = false;
  await expect(forge.checks(sha)).rejects.toMatchObject({ code: 'forbidden' });
  git.intercept = before;
});
