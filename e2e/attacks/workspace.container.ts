import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { belay, describeSystem, gitIn, hostileRepository, put, run, script } from '@belay/testkit';

describeSystem('attacks: a hostile folder and a hostile session', (server) => {
  let base: string;
  let folder: string;
  let outside: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'belay-folder-')));
    folder = join(base, 'folder');
    outside = join(base, 'outside');
    for (const path of [folder, outside]) mkdirSync(path);
  });
  afterEach(() => rmSync(base, { recursive: true }));

  const apply = (commands: string, onStdout?: (text: string) => void) => {
    const finish = { finish: 'done' };
    // The first finish is refused if the agent has not yet seen what the user ran.
    const model = script(server.data, [{ calls: [run(commands)] }, finish, finish]);
    const options = ['--workspace', folder, '--approve', 'auto', '--apply', '--json'];
    return belay(server.data, ['run', 'Change', '-m', model, ...options], { cwd: base, onStdout });
  };

  it('runs no program of the folder, and applies the changes (02)', async () => {
    const canary = hostileRepository(folder, join(base, 'canary'));
    put(folder, 'mine.txt', 'not committed\n');
    const ran = await apply('git log --oneline; sed -i s/one/ONE/ a.txt; echo x > new.slow');
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stdout).toContain(' first');
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('ONE\ntwo\n');
    expect(readFileSync(join(folder, 'new.slow'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('not committed\n');
    writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
    rmSync(join(folder, 'new.slow'));
    const patched = await belay(server.data, ['patch', 'last', '--apply', folder], { cwd: folder });
    expect(patched).toMatchObject({ code: 0, stdout: '', stderr: `Applied to ${folder}.\n` });
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('ONE\ntwo\n');
    expect(canary.ran()).toBe('');
    // Positive control: plain git runs them.
    gitIn(folder, 'status');
    expect(canary.ran()).not.toBe('');
  });

  it('copies nothing from outside the folder, and reports what it left out (20, 21)', async () => {
    put(outside, 'secret.txt', 'the secret\n');
    gitIn(outside, 'init', '-q');
    gitIn(outside, 'add', '.');
    gitIn(outside, 'commit', '-q', '-m', 'the secret commit');
    writeFileSync(join(folder, '.git'), `gitdir: ${outside}/.git\n`);
    put(folder, 'a.txt', 'one\n');
    symlinkSync(outside, join(folder, 'link'));
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'file'));
    const look =
      'cat a.txt; cat link/secret.txt file; git log; grep -r "the sec"ret . && echo taken';
    const ran = await apply(`${look}; echo two > a.txt`);
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stdout).not.toMatch(/the secret|taken"/);
    expect(ran.stderr).toContain('Copied the files of the workspace without its git history');
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('two\n');
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('the secret\n');
  });

  it('a session cannot write through a link in the folder; nothing is applied', async () => {
    put(folder, 'inner/a.txt', 'one\n');
    put(folder, 'b.txt', 'one\n');
    put(outside, 'a.txt', 'one\n');
    let swapped = false;
    const go = async () => {
      const [session] = await server.client.sessions.list();
      const touch = { command: 'touch /tmp/go', terminal: 'other' };
      await server.client.sessions.call(session?.id ?? '', 'terminal.run', touch);
    };
    // Waits until the folder has been changed.
    const wait = 'until [ -f /tmp/go ]; do sleep 0.1; done';
    const ran = await apply(`${wait}; echo two > inner/a.txt; echo two > b.txt`, (text) => {
      // At this point the folder has been sent and nothing has been applied.
      if (swapped || !text.includes('"action":"terminal.run"')) return;
      swapped = true;
      rmSync(join(folder, 'inner'), { recursive: true });
      symlinkSync(outside, join(folder, 'inner'));
      void go();
    });
    expect(ran).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /The patch does not apply to .* Nothing was changed\. The patch is in .*\.patch\.\n$/s,
      ),
    });
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(folder, 'b.txt'), 'utf8')).toBe('one\n');
  });
});
