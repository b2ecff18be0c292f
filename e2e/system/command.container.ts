import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEnded, type Event } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import { belay, describeSystem, repositoryRoot, run, script } from '@belay/testkit';

describeSystem('the belay command', (server) => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-folder-')));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      encoding: 'utf8',
    });

  it('plays the demo headless; its patch applies', async () => {
    cpSync(join(repositoryRoot, 'examples/sessions/fix-failing-test/project'), folder, {
      recursive: true,
    });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'project');
    const patch = join(folder, '..', `${server.pid}.patch`);
    const ran = await belay(server.data, [
      'run',
      'Fix the failing test',
      '--model',
      'scripted:example:fix-failing-test',
      '--workspace',
      folder,
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
    expect(git('status', '--porcelain')).toBe('');
    git('apply', '--check', patch);
    expect(readFileSync(patch, 'utf8')).toMatch(/^diff --git /);
    rmSync(patch);
  });

  it('changes the folder only with --apply, and only what the agent changed', async () => {
    git('init', '-q');
    writeFileSync(join(folder, 'a.txt'), 'one\r\ntwo\r\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    const model = script(server.data, [
      {
        calls: [
          run(
            "git log --oneline | wc -l; printf 'one\\r\\nTWO\\r\\n' > a.txt; printf '\\000\\377' > b.bin",
          ),
        ],
      },
      { finish: 'done' },
    ]);
    const ran = await belay(server.data, [
      'run',
      'Change',
      '-m',
      model,
      '-w',
      folder,
      '--approve',
      'auto',
      '--apply',
    ]);
    expect(ran).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('one\r\nTWO\r\n');
    expect([...readFileSync(join(folder, 'b.bin'))]).toEqual([0, 255]);
    expect(git('status', '--porcelain').trim().split('\n')).toHaveLength(2);
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

    const bundle = join(folder, 'history.bundle');
    const wrote = await belay(server.data, ['export', id, '--format', 'bundle', '-o', bundle]);
    expect(wrote).toMatchObject({ code: 0, stdout: expect.stringContaining(`Wrote ${bundle} `) });
    execFileSync('git', ['clone', '-q', bundle, join(folder, 'clone')], { stdio: 'pipe' });
    expect(readFileSync(join(folder, 'clone/one.txt'), 'utf8')).toBe('one\n');
    const zip = await belay(server.data, ['export', id, '--json'], { cwd: folder });
    const { file } = JSON.parse(zip.stdout) as { file: string };
    expect(readFileSync(join(folder, file)).subarray(0, 2).toString()).toBe('PK');
    const patch = await belay(server.data, ['export', id, '--format', 'patch', '-o', '-']);
    expect(patch.stdout).toContain('+one\n');

    const forked = await belay(server.data, ['fork', id, '--json']);
    expect(JSON.parse(forked.stdout)).toMatchObject({ forkedFrom: { session: id } });
  });

  it('reads the task from standard input and prints only the last message; a message resumes the session', async () => {
    const model = script(server.data, [{ finish: 'first' }, { finish: 'second' }]);
    const options = { input: 'what\nto do\n' };
    const ran = await belay(server.data, ['run', '-', '-m', model, '--quiet'], options);
    expect(ran).toMatchObject({ code: 0, stdout: 'first\n' });
    const [summary] = await server.client.sessions.list();
    expect(summary).toMatchObject({ task: 'what\nto do' });
    const said = await belay(server.data, ['say', 'last', 'Now the rest']);
    expect(said).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\n» Now the rest\n[^]*■ finished\nsecond\n$/),
    });
    expect(said.stdout).not.toContain('first');
    expect(await belay(server.data, ['stop', 'last'])).toMatchObject({
      code: 0,
      stderr: `${summary?.id} has already ended: finished.\n`,
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

  it('stops the session on Ctrl-C and exits with 130', async () => {
    const model = script(server.data, [
      { calls: [run('echo begun; sleep 100', { wait: 100 })] },
      { finish: 'x' },
    ]);
    let sent = false;
    const ran = await belay(server.data, ['run', 'x', '-m', model, '--approve', 'auto', '--json'], {
      onStdout: (text, kill) => {
        if (!sent && text.includes('"action":"terminal.run"')) kill('SIGINT');
        sent ||= text.includes('"action":"terminal.run"');
      },
    });
    expect(ran).toMatchObject({ code: 130 });
    await eventually(async () =>
      expect((await server.client.sessions.list())[0]).toMatchObject({ state: 'stopped' }),
    );
  });

  it('fails with one sentence for each error', async () => {
    const sentence = async (...args: string[]) => {
      const { code, stderr } = await belay(server.data, args);
      return { code, stderr: stderr.trim() };
    };
    expect(await sentence('run', 'x', '-m', 'nobody:x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^belay: There is no model "nobody:x"/),
    });
    expect(await sentence('log', 'nothing')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^belay: There is no session/),
    });
    expect(await sentence('run', 'x', '-m', 'scripted:/none.yaml')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^belay: .*\/none\.yaml/),
    });
    expect(await sentence('run')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/There is no task/),
    });
    expect(await sentence('list', '--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/No Belay server answers/),
    });
  });

  it('checks the machine', async () => {
    const { stdout } = await belay(server.data, ['doctor']);
    expect(stdout).toMatch(/✓ data folder/);
    expect(stdout).toMatch(/✓ server {9}is running at http/);
    expect(stdout).toMatch(/✓ .*[Dd]ocker/);
    expect(stdout).toMatch(/✗ models[^]*→ .*KEY/);
  });
});
