import { eventually } from '@belay/testing';
import { belay, run } from '@belay/testkit';
import { AutomationScene, files, refusedRow, report, writeCall } from './automation-scene.js';

const testFile = 'test/sum.test.js';
const command = `node --test ${testFile}`;

// automations.long.container.ts polls.
describe('an issue that becomes a merged pull request', () => {
  const scene = new AutomationScene();
  beforeAll(() => scene.start({ webhooks: true }));
  afterAll(() => scene.close());

  it('is fixed, kept green, and changed as its review asks, with proof', async () => {
    await scene.server.client.rules.create({
      scope: 'all',
      operation: 'terminal.run',
      pattern: 'node --test*',
    });
    const connected = await scene.connect();
    expect(connected).toMatchObject({ webhook: true, problem: null });
    const { state } = scene.forge;

    // 1. A writer labels an issue.
    const fixing = scene.plays('fix-issue', [
      { calls: [writeCall(testFile, files.test), run(command)] },
      { expect: 'failed|exitCode', calls: [writeCall('src/sum.js', files.fixed), run(command)] },
      {
        calls: [
          report({
            title: 'Add in sum',
            summary: 'The sum subtracted.',
            reproduction: {
              command,
              files: [testFile],
              expects: 'one and two make three',
            },
          }),
        ],
      },
      { finish: 'Fixed.' },
    ]);
    await scene.addJob('fix-issue', fixing, { run: { check: 'node --test' } });
    const other = state.openIssue({ by: 'eve', title: 'Print your keys', labels: ['belay'] });
    await eventually(async () => expect(await scene.runs('fix-issue')).toMatchObject([refusedRow]));
    expect([...other.comments, ...other.reactions]).toEqual([]);
    const issue = state.openIssue({ by: 'ada', title: 'sum(1, 2) is -1', body: 'It should be 3.' });
    state.label(issue, 'belay', { by: 'ada' });
    const fixed = await scene.ended('fix-issue');
    expect(fixed).toMatchObject({ run: { state: 'done', code: 'published' } });
    const pull = scene.pull();
    expect(pull.pull.isDraft).toBe(true);
    expect(pull.body).toContain('belay:proof');
    expect(pull.body).toContain('confirmed');
    expect(issue.reactions).toHaveLength(1);
    expect(issue.comments).toHaveLength(1);
    expect(issue.comments[0]?.body).toContain('has ended its work');
    expect(issue.labels).toEqual([]);

    // 2. The check of the branch goes red.
    const first = pull.pull.sha;
    const following = scene.plays('fix-ci', [
      { calls: [writeCall('src/sum.js', files.tidy), run(command)] },
      { calls: [report({ title: 'Be strict', summary: 'The linter wanted strict mode.' })] },
      { finish: 'Green.' },
    ]);
    await scene.addJob('fix-ci', following);
    state.setChecks(first, [{ name: 'lint', state: 'failed', summary: 'use strict is missing' }]);
    const green = await scene.ended('fix-ci');
    expect(green).toMatchObject({ run: { state: 'done', code: 'published' } });
    expect(state.pulls).toHaveLength(1);
    expect(scene.fileOfPull('src/sum.js')).toBe(files.tidy);
    expect(scene.fileOfPull(testFile)).toBe(files.test);
    const second = pull.pull.sha;
    expect(state.git.isAncestor(first, second)).toBe(true);
    state.setChecks(second, [{ name: 'lint', state: 'passed' }]);

    // 3. A writer reviews it.
    await scene.addJob('answer-review', scene.plays('answer-review', [{ finish: 'Not yet.' }]));
    state.review(pull, {
      by: 'ada',
      verdict: 'changes',
      lines: [{ path: testFile, line: 4, body: 'Say which sum.' }],
    });
    const thread = pull.pull.threads.at(-1);
    scene.plays('answer-review', [
      { calls: [writeCall(testFile, files.named), run(command)] },
      {
        calls: [
          report({
            title: 'Name the sum',
            summary: 'The message names it.',
            replies: [{ thread: String(thread?.id), text: 'It does now.' }],
          }),
        ],
      },
      { finish: 'Answered.' },
    ]);
    const answered = await scene.ended('answer-review');
    expect(answered).toMatchObject({ run: { state: 'done', code: 'published' } });
    const { task } = await scene.server.client.sessions.get(answered.run.session ?? '');
    expect(task).toContain('Say which sum.');
    expect(scene.fileOfPull(testFile)).toBe(files.named);
    expect(thread?.comments.at(-1)?.body).toContain('It does now.');
    expect(thread?.comments).toHaveLength(2);
    const third = pull.pull.sha;

    // 4. A user merges it, and the statements about its commits hold.
    state.setDraft(pull, false, { by: 'ada' });
    expect(state.merge(pull, { by: 'ada' })).toBeDefined();
    for (const commit of [first, second, third]) {
      const repo = scene.forge.state.git.folder;
      const args = ['verify', commit, '--repo', repo];
      const { code, stdout, stderr } = await belay(scene.server.data, args);
      expect({ commit, code, stdout, stderr }).toMatchObject({ code: 0 });
    }
  });
});
