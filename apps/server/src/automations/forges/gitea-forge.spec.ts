import { ForgeBench } from './testing/forge-bench.js';
import { giteaPermission, giteaAccount } from './gitea-shapes.js';

const bench = new ForgeBench();
beforeAll(async () => {
  await bench.start('gitea');
  bench.played.state.addUser('ada', { level: 'write' });
});
afterAll(() => bench.close());
afterEach(() => {
  bench.played.state.self.level = 'admin';
  bench.played.player.fail = undefined;
});

it.each([
  [{ id: -2, login: 'gitea-actions' }, true],
  [{ id: -1, login: 'Ghost' }, true],
  [{ id: 9, login: 'forgejo-actions' }, true],
  [{ id: 9, login: 'renovate[bot]' }, true],
  [{ id: 9, login: 'robot' }, false],
])('%j is a bot: %s', (user, isBot) => {
  expect(giteaAccount.parse(user)).toMatchObject({ isBot });
});

it.each([
  ['owner', 'admin'],
  ['admin', 'admin'],
  ['write', 'write'],
  ['read', 'read'],
  ['none', 'none'],
  ['constructor', 'none'],
])('the permission %s is %s', (permission, level) => {
  expect(giteaPermission.parse({ permission }).level).toBe(level);
});

it('says what to do when the token may not ask who may write', async () => {
  const forge = bench.open();
  expect(await forge.level(bench.user('ada'))).toBe('write');
  bench.played.state.self.level = 'write';
  await expect(forge.level(bench.user('ada'))).rejects.toMatchObject({
    code: 'forbidden',
    message:
      'This server cannot ask who may write: give the token repository administration, or list people in trust.users.',
  });
  // Everyone may ask for their own.
  expect(await forge.level(bench.user('belay-bot'))).toBe('write');
});

it('adds labels that are there, and makes none', async () => {
  const { state } = bench.played;
  const issue = state.openIssue({ by: 'ada', title: 'x', labels: ['fix-me'] });
  state.labelNamed('done');
  const subject = { number: issue.number, isPull: false };
  const forge = bench.open();
  const refused = forge.changeLabels(subject, { add: ['typo'], remove: ['fix-me'] });
  await expect(refused).rejects.toThrow('acme/api has no label typo. Make it at');
  expect(issue.labels).toEqual(['fix-me']);
  await forge.changeLabels(subject, { add: ['done'], remove: ['fix-me'] });
  expect(issue.labels).toEqual(['done']);
});

it('answers a thread on a removed line on that line', async () => {
  const { state } = bench.played;
  const { pull } = bench.pull('ada');
  const line = { path: 'src/sum.js', line: 2 };
  state.review(pull, {
    by: 'ada',
    verdict: 'comment',
    lines: [
      { ...line, side: 'new', body: 'On the new line' },
      { ...line, side: 'old', body: 'On the old line' },
    ],
  });
  const forge = bench.open();
  const thread = (await forge.threads(pull.number)).find((one) => one.line === null);
  if (!thread) throw new Error('There is no thread on a removed line.');
  await forge.reply(pull.number, thread, 'It was wrong.');
  const found = await forge.threads(pull.number);
  expect(found.map(({ comments }) => comments.map(({ body }) => body))).toEqual([
    ['On the new line'],
    ['On the old line', 'It was wrong.'],
  ]);
  const gone = { ...thread, id: '999999' };
  await expect(forge.reply(pull.number, gone, 'x')).rejects.toMatchObject({ code: 'not_found' });
});

it('counts the status of a check once, the latest', async () => {
  const { state } = bench.played;
  state.addUser('cleo', { level: 'write' });
  const { sha } = bench.pull('cleo');
  state.setChecks(sha, [{ name: 'test', state: 'pending' }]);
  state.setChecks(sha, [{ name: 'test', state: 'failed', summary: 'Expected 3' }]);
  expect(await bench.open().checks(sha)).toMatchObject([{ name: 'test', state: 'failed' }]);
});
