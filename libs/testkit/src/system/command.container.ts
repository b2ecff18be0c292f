import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event } from '@belay/protocol';
import { belay } from '../command.js';
import { describeSystem } from '../describe-system.js';
import { root } from '../environment.js';
import { run, script } from '../script.js';

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
    cpSync(join(root, 'examples/sessions/fix-failing-test/project'), folder, { recursive: true });
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

  it('changes the folder with --apply alone, and only by what the agent did', async () => {
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
  ] as const)('says by its exit code that a session %s', async (_, turns, more, code) => {
    const model = script(server.data, turns as never);
    const ran = await belay(server.data, ['run', 'x', '-m', model, '--approve', 'auto', ...more]);
    expect(ran).toMatchObject({ code });
  });

  it('needs a person for a command, says where it waits, and leaves it waiting', async () => {
    const model = script(server.data, [{ calls: [run('echo hello')] }, { finish: 'x' }]);
    const ran = await belay(server.data, ['run', 'x', '-m', model]);
    expect(ran).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/needs a person to allow terminal\.run\. It waits at http/),
    });
    const [summary] = await server.client.sessions.list();
    expect(summary).toMatchObject({ state: 'waiting', waitingFor: [{ subject: 'echo hello' }] });
    const id = String(summary?.id);
    expect(await belay(server.data, ['attach', id])).toMatchObject({ code: 4 });
    await server.client.sessions.answer(id, String(summary?.waitingFor[0]?.id), {
      verdict: 'approved',
    });
    // Whether it has ended by then or not: a question that was answered is not asked again.
    expect(await belay(server.data, ['attach', id])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/■ finished\nx\n/),
      stderr: expect.stringMatching(/^finished · 2 steps · /),
    });
  });

  it('takes the task from standard input and says only the last words; a message goes on with it', async () => {
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
      stderr: `${summary?.id} has ended already: finished.\n`,
    });
  });

  it('leaves a session alone that it only attached to', async () => {
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
      stderr: expect.stringMatching(/It goes on; follow it with/),
    });
    expect(await server.client.sessions.get(id)).toMatchObject({ state: 'running' });
    await server.client.sessions.stop(id);
  });

  it('stops the session on Ctrl-C and says 130', async () => {
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
    expect((await server.client.sessions.list())[0]).toMatchObject({ state: 'stopped' });
  });

  it('refuses what it cannot do in one sentence each', async () => {
    const sentence = async (...args: string[]) => {
      const { code, stderr } = await belay(server.data, args);
      return { code, stderr: stderr.trim() };
    };
    expect(await sentence('run', 'x', '-m', 'nobody:x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^belay: .*provider/),
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
      stderr: expect.stringMatching(/Say what to do/),
    });
    expect(await sentence('list', '--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/No Belay server answers/),
    });
  });

  it('checks the machine', async () => {
    const { stdout } = await belay(server.data, ['doctor']);
    expect(stdout).toMatch(/✓ data folder/);
    expect(stdout).toMatch(/✓ server {9}runs at http/);
    expect(stdout).toMatch(/✓ .*[Dd]ocker/);
    expect(stdout).toMatch(/✗ models[^]*→ .*KEY/);
  });
});
