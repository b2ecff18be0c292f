import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isEnded, type Event } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import { belay, describeSystem, repositoryRoot, run, script } from '@belay/testkit';
import { eachFolder } from './each-folder.js';

describeSystem('the belay command, with a demo, limits, questions and exports', (server) => {
  const folder = eachFolder();

  it('plays the demo headless; its patch applies', async () => {
    cpSync(join(repositoryRoot, 'examples/sessions/fix-failing-test/project'), folder.path, {
      recursive: true,
    });
    folder.git('init', '-q');
    folder.git('add', '.');
    folder.git('commit', '-qm', 'project');
    const patch = join(folder.path, '..', `${server.pid}.patch`);
    const ran = await belay(server.data, [
      'run',
      'Fix the failing test',
      '--model',
      'scripted:example:fix-failing-test',
      '--workspace',
      folder.path,
      '--approve',
      'auto',
      '--json',
      '--patch',
      patch,
    ]);
    expect(ran).toMatchObject({ code: 0 });
    const events = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    for (const action of ['plan', 'code', 'browser', 'terminal.run', 'finish'])
      expect(events.some((event) => event.action === action)).toBe(true);
    expect(folder.git('status', '--porcelain')).toBe('');
    folder.git('apply', '--check', patch);
    expect(readFileSync(patch, 'utf8')).toMatch(/^diff --git /);
    rmSync(patch);
  });

  it.each([
    ['fails', [{ finish: { summary: 'cannot', outcome: 'failure' } }], [], 1],
    [
      'hits a limit',
      [{ calls: [run('true')] }, { calls: [run('true')] }, { finish: 'x' }],
      ['--max-steps', '2'],
      3,
    ],
    [
      'runs out of time',
      [{ calls: [run('sleep 100', { wait: 100 })] }, { finish: 'x' }],
      ['--timeout', '2'],
      3,
    ],
  ] as const)('reports by its exit code that a session %s', async (_, turns, more, code) => {
    const model = script(server.data, turns as never);
    const ran = await belay(server.data, ['run', 'x', '-m', model, '--approve', 'auto', ...more]);
    expect(ran).toMatchObject({ code });
  });

  it('prints where a command waits for approval, and leaves it waiting', async () => {
    const model = script(server.data, [{ calls: [run('echo hello')] }, { finish: 'x' }]);
    const ran = await belay(server.data, ['run', 'x', '-m', model]);
    expect(ran).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/needs approval for terminal\.run\. Answer at http/),
    });
    const newest = async () => (await server.client.sessions.list())[0];
    const waiting = { state: 'waiting', waitingFor: [{ subject: 'echo hello' }] };
    await eventually(async () => expect(await newest()).toMatchObject(waiting));
    const summary = await newest();
    const id = String(summary?.id);
    expect(await belay(server.data, ['attach', id])).toMatchObject({ code: 4 });
    await server.client.sessions.answer(id, String(summary?.waitingFor[0]?.id), {
      verdict: 'approved',
    });
    // An answered question is not asked again, whether or not the session has ended by then.
    expect(await belay(server.data, ['attach', id])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/■ finished\nx\n/),
      stderr: expect.stringMatching(/^finished · 2 steps · /),
    });
  });

  it('lists what waits and answers it, then exports and forks the session', async () => {
    const model = script(server.data, [
      { calls: [run('echo one > one.txt'), run('echo two')] },
      { finish: 'x' },
    ]);
    const { id } = await server.client.sessions.create({ task: 'x', model, approvals: 'ask' });
    const asked = async () => (await server.client.sessions.get(id)).waitingFor;
    await until('a question', async () => (await asked()).length > 0);
    expect((await belay(server.data, ['approve'])).stdout).toContain('    echo one > one.txt\n');
    const listed = await belay(server.data, ['approve', id, '--json']);
    const [{ session, waitingFor }] = JSON.parse(listed.stdout) as [
      { session: string; waitingFor: { id: string }[] },
    ];
    expect(session).toBe(id);
    expect(await belay(server.data, ['approve', id, 'zz'])).toMatchObject({ code: 2 });
    const first = String(waitingFor[0]?.id);
    expect(await belay(server.data, ['approve', id, first])).toMatchObject({ code: 0 });
    await until('the next question', async () => {
      const [next] = await asked();
      return next !== undefined && next.id !== first;
    });
    const rejected = await belay(server.data, ['approve', id, '--all', '--reject', 'no', '--json']);
    expect(JSON.parse(rejected.stdout)).toMatchObject([{ session: id, verdict: 'rejected' }]);
    await until('its end', async () => isEnded((await server.client.sessions.get(id)).state));

    const bundle = join(folder.path, 'history.bundle');
    const wrote = await belay(server.data, ['export', id, '--format', 'bundle', '-o', bundle]);
    expect(wrote).toMatchObject({ code: 0, stdout: expect.stringContaining(`Wrote ${bundle} `) });
    execFileSync('git', ['clone', '-q', bundle, join(folder.path, 'clone')], { stdio: 'pipe' });
    expect(readFileSync(join(folder.path, 'clone/one.txt'), 'utf8')).toBe('one\n');
    const zip = await belay(server.data, ['export', id, '--json'], { cwd: folder.path });
    const { file } = JSON.parse(zip.stdout) as { file: string };
    expect(readFileSync(join(folder.path, file)).subarray(0, 2).toString()).toBe('PK');
    const patch = await belay(server.data, ['export', id, '--format', 'patch', '-o', '-']);
    expect(patch.stdout).toContain('+one\n');

    const forked = await belay(server.data, ['fork', id, '--json']);
    expect(JSON.parse(forked.stdout)).toMatchObject({ forkedFrom: { session: id } });
  });

  it.each([
    [/^belay: There is no session/, ['log', 'nothing']],
    [/^belay: .*\/none\.yaml/, ['run', 'x', '-m', 'scripted:/none.yaml']],
  ])('fails with one sentence: %s', async (stderr, words) => {
    const ran = await belay(server.data, words);
    expect({ ...ran, stderr: ran.stderr.trim() }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(stderr),
    });
  });

  it('leaves an attached session running', async () => {
    const model = script(server.data, [
      { calls: [run('echo begun; sleep 100', { wait: 100 })] },
      { finish: 'x' },
    ]);
    const { id } = await server.client.sessions.create({ task: 'x', model, approvals: 'auto' });
    let sent = false;
    const ran = await belay(server.data, ['attach', id, '--json'], {
      onStdout: (text, kill) => {
        if (!sent && text.includes('"action":"terminal.run"')) kill('SIGINT');
        sent ||= text.includes('"action":"terminal.run"');
      },
    });
    expect(ran).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/is still running\. Follow it with/),
    });
    expect(await server.client.sessions.get(id)).toMatchObject({ state: 'running' });
    await server.client.sessions.stop(id);
  });
});
