import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeSystem, idle, prepared, type BelayServer, type Followed } from '@belay/testkit';

const script = readFileSync(join(__dirname, 'identity.py'), 'utf8');

/** The outcome of each attack, by target. */
async function attacked(server: BelayServer, session: Followed) {
  const call = server.client.sessions.call.bind(server.client.sessions);
  await call(session.id, 'files.write', { path: 'identity.py', content: script });
  const run = { command: 'python3 identity.py', wait: 120 };
  const { text, exitCode } = await call(session.id, 'terminal.run', run);
  expect({ text, exitCode }).toMatchObject({ exitCode: 0 });
  const lines = text.split('\n').filter(Boolean);
  return (target: string) => lines.filter((line) => line.startsWith(`${target} `));
}

const open = (lines: string[]) => lines.filter((line) => line.endsWith('OPEN'));
/** The engine’s seccomp profile denies these for every process in a sandbox. */
const denied = / (readv|take descriptor) /;
/** Positive control: all other attacks succeed against the attacker’s own process. */
function expectOpen(lines: string[]): void {
  const possible = lines.filter((line) => !denied.test(line));
  expect(open(lines)).toEqual(possible);
  expect(possible).toHaveLength(11);
}

/** The session still runs a command and records it. */
async function expectAlive(server: BelayServer, session: Followed): Promise<void> {
  const run = { command: 'echo alive' };
  const result = await server.client.sessions.call(session.id, 'terminal.run', run);
  expect(result).toMatchObject({ text: 'alive\n', exitCode: 0 });
}

const dial = [
  'mkdir -p /tmp/second',
  'BELAY_CONNECTION=unix:/run/belay/agent.sock BELAY_WORKSPACE=/tmp/second BELAY_STATE=/tmp/second timeout 20 /opt/belay/node /opt/belay/agent.cjs',
].join('; ');

describeSystem('attacks: the identity of an agent', (server) => {
  it('is not shared with programs of a hardened sandbox', async () => {
    const session = await idle(server);
    const answers = await attacked(server, session);
    expect(answers('agent')).toHaveLength(18);
    expect(open(answers('agent'))).toEqual([]);
    expect(open(answers('init'))).toEqual([]);
    expect(answers('inspector')).toEqual(['inspector closed']);
    expectOpen(answers('own'));
    await expectAlive(server, session);
    session.close();
  });

  it('is not shared with programs of a root sandbox, which can end the agent but no more', async () => {
    const session = await idle(server, { sandbox: 'root' });
    const answers = await attacked(server, session);
    expect(open(answers('agent'))).toEqual([]);
    expect(answers('inspector')).toEqual(['inspector closed']);
    expectOpen(answers('own'));
    await expectAlive(server, session);
    session.close();
  });

  it('does not include its exit codes: a program that reports success in place of the shell is detected', async () => {
    const session = await idle(server);
    const forge = `
d=$(dirname "$(find /var/lib/belay -name start -path '*/terminals/*' | head -n 1)")
mark=$(grep -o ']6973;[0-9a-f]*;' "$d/start" | head -n 1)
for n in 1 2 3 4 5; do
  printf '\\033%s%s\\007' "$mark" $n >/dev/tty
  printf 'ready %s 0 %s\\000' $n "$PWD" >"$d/reports"
done`;
    const run = (command: string) =>
      server.client.sessions.call(session.id, 'terminal.run', { command });
    const result = await run(`(${forge}); sleep 0.2; echo after; (exit 7)`);
    expect(result.exitCode).toBe(7);
    expect(result.text).toMatch(/^after\n[^]*; 7 is taken\]/);
    // Positive control: a program that forges nothing.
    expect(await run('echo on; (exit 3)')).toMatchObject({ text: 'on\n', exitCode: 3 });
    session.close();
  });

  it('cannot be taken over by connecting to the socket', async () => {
    const session = await idle(server);
    const run = { command: dial, wait: 120 };
    const second = await server.client.sessions.call(session.id, 'terminal.run', run);
    expect(second).toMatchObject({ status: 'exited' });
    expect(second.exitCode).not.toBe(0);
    await expectAlive(server, session);
    session.close();
  });

  it('is the sandbox’s user for files and programs, in any image', async () => {
    const session = await idle(server, { image: prepared('BELAY_TEST_BUSYBOX') });
    const call = server.client.sessions.call.bind(server.client.sessions);
    await call(session.id, 'files.write', { path: 'made', content: 'x' });
    const command =
      'grep -E "^(Uid|Gid|Groups)" /proc/self/status; stat -c %u:%g made; umask 077; mkdir own; echo 1 >own/file';
    const { text } = await call(session.id, 'terminal.run', { command });
    expect(
      text.replaceAll(/\s*\t/g, ' ').replaceAll(/ +\n/g, '\n').split('\n').filter(Boolean),
    ).toEqual(['Uid: 1000 1000 1000 1000', 'Gid: 1000 1000 1000 1000', 'Groups:', '1000:1000']);
    // The agent can enter folders that only the user may enter.
    await call(session.id, 'files.write', { path: 'own/file', content: 'two' });
    const read = await call(session.id, 'files.read', { path: 'own/file' });
    expect(read.content).toBe('two');
    expect(
      (await call(session.id, 'files.search', { path: 'own', pattern: 'tw' })).matches,
    ).toHaveLength(1);
    session.close();
  });
});
