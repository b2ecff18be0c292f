import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { itLong, sampled, staysTrue, until } from '@belay/testing';
import { TerminalBench } from './terminal-bench.js';

/** Waits for its gate to open: however slow the machine is, it does not end within the call that begins it. */
export const held = (command: string, gate = 'gate') =>
  `until [ -e "$HOME/${gate}" ]; do sleep 0.05; done; ${command}`;

/** Keeps this process, and the agent in it, from doing anything else. */
const holdUp = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** What background commands are, whatever the shell. */
export function describeBackground(shell: 'bash' | 'sh'): void {
  const given = withBench(shell);
  describeOne(given);
  describeSeveral(given);
  describe('attacks: a forged end', () => describeForged(given));
}

/** A bench for each test, and what tests do with it. */
function withBench(shell: 'bash' | 'sh') {
  let bench: TerminalBench;
  beforeEach(async () => void (bench = await TerminalBench.open({ shell })));
  afterEach(() => bench.close());
  const exits = () =>
    bench.events.filter(({ action }) => action === 'exit').map(({ args }) => args);
  return {
    bench: () => bench,
    exits,
    background: (command: string) => bench.run(command, { background: true }),
    openGate: () => writeFileSync(join(bench.folder, 'gate'), ''),
    read: (more = {}) => bench.call('terminal.read', more),
    told: (count = 1) =>
      until('its end is told', () => exits().length === count, { state: () => bench.screen() }),
  };
}
type Given = ReturnType<typeof withBench>;

function describeOne({ bench, exits, background, openGate, read, told }: Given): void {
  it('is shown as running while it runs, whatever else ran meanwhile', async () => {
    expect(await background('sleep 600')).toMatchObject({ status: 'background', exitCode: null });
    await bench().run('(exit 4)');
    expect(await read()).toMatchObject({
      command: 'sleep 600',
      status: 'background',
      exitCode: null,
    });
  });

  itLong('is named by its beginning, with a mark, where it is long', async () => {
    const command = `sleep 600; ${'x'.repeat(300)}`;
    await background(command);
    const named = `${command.slice(0, 199)}…`;
    expect(await read()).toMatchObject({ command: named });
    const { terminals } = await bench().call('terminal.list', {});
    expect(terminals[0]?.background).toMatchObject([{ command: named }]);
  });

  it.each(
    sampled(1, [
      ['no-such-program', 127, 'not found'],
      ['echo broken; exit 3', 3, 'broken'],
    ]),
  )('that fails at once is reported once with its exit code: %s', async (command, code, text) => {
    const result = await background(command);
    if (result.status === 'exited') {
      expect(result).toMatchObject({ exitCode: code, text: expect.stringContaining(text) });
      expect(exits()).toEqual([]);
    } else {
      // A busy machine took longer to begin it than the call waits for an early end.
      await told();
      expect(exits()).toMatchObject([{ exitCode: code }]);
    }
  });

  it.each(
    sampled(2, [
      ['ends by itself', 'echo bye; exit 7', 7],
      ['is killed', 'echo bye; kill -9 $(sh -c "echo \\$PPID")', 137],
      ['replaces its shell', "exec sh -c 'echo bye; exit 7'", 7],
      ['is asked to end', "sh -c 'echo bye; kill -TERM $PPID; sleep 5'", 143],
      ['stops at the first failure', 'set -e; echo bye; false; echo not', 1],
    ]),
  )('that %s is told with its exit code and last lines', async (_, command, exitCode) => {
    await background(held(command));
    await bench().run('sleep 0.1; (exit 4)');
    openGate();
    await told();
    expect(exits()).toMatchObject([{ terminal: 'main', status: 'exited', exitCode }]);
    expect(exits()[0]?.text).toMatch(/bye$/m);
    const { terminals } = await bench().call('terminal.list', {});
    expect(terminals[0]?.background).toMatchObject([{ status: 'exited', exitCode }]);
  });
}

function describeSeveral({ bench, exits, background, openGate, told }: Given): void {
  it('gives its exit code to `wait`, and several end in any order', async () => {
    for (const code of [1, 2, 3]) await background(held(`sleep 0.${3 - code}; exit ${code}`));
    openGate();
    expect(await bench().run('wait $!')).toMatchObject({ exitCode: 3 });
    await told(3);
    expect(exits().map(({ exitCode }) => exitCode)).toEqual(expect.arrayContaining([1, 2, 3]));
  });

  it('outlives its shell, and its exit code is known all the same', async () => {
    await background(held('exit 9'));
    await bench().run('exit 0');
    openGate();
    await told();
    expect(exits()).toMatchObject([{ status: 'exited', exitCode: 9 }]);
  });

  it('is what an interrupt ends and reports, not another command', async () => {
    await background('sleep 600');
    await bench().run('true');
    expect(await bench().call('terminal.interrupt', {})).toMatchObject({
      command: 'sleep 600',
      status: 'interrupted',
      exitCode: 130,
    });
    expect(exits()).toEqual([]);
    await expect(bench().call('terminal.interrupt', {})).rejects.toThrow('Nothing is running');
    // Its text says that it ignores the signal by now.
    const deaf = "trap '' INT; echo ig''nores; while :; do sleep 0.1; done";
    await bench().run(deaf, { background: true, until: { text: 'ignores' } });
    expect((await bench().call('terminal.interrupt', {})).status).toBe('background');
    expect(await bench().call('terminal.interrupt', { kill: true })).toMatchObject({
      status: 'interrupted',
      exitCode: null,
    });
  });

  it('is told with lines of its own, not those of other commands in its terminal', async () => {
    await background(`echo begins; ${held('echo its own words; exit 4')}`);
    await bench().run('echo of another command');
    openGate();
    await told();
    const [exit] = exits();
    expect(exit).toMatchObject({ exitCode: 4, mixed: true });
    expect(exit?.text).toContain('its own words');
    expect(exit?.text).not.toContain('another');
    await background(held('echo said meanwhile; exit 5', 'second'));
    await bench().run('echo of another command; : >"$HOME/second"; wait $!');
    await told(2);
    expect(exits()[1]).toMatchObject({ exitCode: 5, mixed: true, text: '' });
    expect(exits()[1]?.['from']).toBeGreaterThan(Number(exit?.['from']));
  });

  it('ends at its timeout, which is told', async () => {
    // A busy machine may take longer to answer the call, whose result then has the end already.
    for (const timeout of [0.6, 4, 16]) {
      const result = await bench().run('sleep 600', { background: true, timeout });
      if (result.status === 'background') break;
    }
    await told();
    expect(exits()).toMatchObject([{ status: 'timeout', exitCode: null }]);
  });

  itLong('that a user interrupts is told', async () => {
    await background('sleep 600');
    await bench().call('terminal.interrupt', { kill: true }, { source: 'user' });
    await told();
    expect(exits()).toMatchObject([{ status: 'interrupted' }]);
  });

  itLong('is not told of when its terminal is closed', async () => {
    await background('sleep 600');
    await bench().call('terminal.close', { terminal: 'main' });
    expect(exits()).toEqual([]);
  });
}

function describeForged({ bench, exits, background, openGate, told }: Given): void {
  const forge = (status: number) => `
d=$(dirname "$(find '${bench().folder}/state' -name reports)")
id=$(sed -n 's/^Max file locks *\\([0-9]*\\).*/\\1/p' /proc/self/limits)
printf 'ended %s ${status}\\000' "$id" >"$d/reports"`;
  const release = `printf '%s\\n' "$id" >"$d/releases"`;
  const shown = (text: RegExp) =>
    until('the dispute is shown', () => text.test(bench().screen()), {
      state: () => bench().screen(),
    });

  it('does not end a command that runs, and the true exit code counts', async () => {
    await background(`(${forge(0)}); : >forged; ${held('echo after; exit 7')}`);
    await until('the end is forged', () => existsSync(join(bench().workspace, 'forged')));
    await staysTrue('no end is told', 300, () => exits().length === 0);
    openGate();
    await told();
    expect(exits()).toMatchObject([{ exitCode: 7 }]);
    await shown(/after[^]*another exit code.*; 7 is taken/);
  });

  it('is not a success either when the one that reports is released beforehand', async () => {
    await background(held(`${forge(0)}; ${release}; exit 7`));
    openGate();
    await told();
    expect(exits()[0]?.exitCode).toBeGreaterThan(0);
    await shown(/another exit code.* is taken/);
  });

  itLong('is shown also by an agent that is held up until the command is gone', async () => {
    await background(held(`${forge(0)}; ${release}; : >"$HOME/released"; exit 7`));
    openGate();
    while (!existsSync(join(bench().folder, 'released'))) holdUp(10);
    holdUp(500);
    await told();
    expect(exits()[0]?.exitCode).toBeGreaterThan(0);
    await shown(/another exit code.* is taken/);
  });

  itLong('is not a success when the one that would report is killed first', async () => {
    // The subshell that reports is the parent of the one that runs this.
    const parent = '$(sh -c "sed -n s/^PPid:.//p /proc/\\$PPID/status")';
    await background(held(`(${forge(0)}); kill -9 ${parent}`));
    openGate();
    await told();
    expect(exits()).toMatchObject([{ exitCode: 137 }]);
    await shown(/137 is taken/);
  });
}
