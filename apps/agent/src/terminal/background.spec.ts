import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { staysTrue, until } from '@belay/testing';
import { TerminalBench } from './testing/terminal-bench.js';

const exits = (bench: TerminalBench) =>
  bench.events.filter(({ action }) => action === 'exit').map(({ args }) => args);

/** Waits for its gate to open: however slow the machine is, it does not end within the call that begins it. */
const held = (command: string, gate = 'gate') =>
  `until [ -e "$HOME/${gate}" ]; do sleep 0.05; done; ${command}`;

/** Keeps this process, and the agent in it, from doing anything else. */
const holdUp = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe.each(['bash', 'sh'] as const)('a background command with %s', (shell) => {
  let bench: TerminalBench;
  beforeEach(async () => void (bench = await TerminalBench.open({ shell })));
  afterEach(() => bench.close());
  const background = (command: string) => bench.run(command, { background: true });
  const openGate = () => writeFileSync(join(bench.folder, 'gate'), '');
  const read = (more = {}) => bench.call('terminal.read', more);
  const told = (count = 1) =>
    until('its end is told', () => exits(bench).length === count, { state: () => bench.screen() });

  it('is shown as running while it runs, whatever else ran meanwhile', async () => {
    expect(await background('sleep 600')).toMatchObject({ status: 'background', exitCode: null });
    await bench.run('(exit 4)');
    expect(await read()).toMatchObject({
      command: 'sleep 600',
      status: 'background',
      exitCode: null,
    });
  });

  it('is named by its beginning, with a mark, where it is long', async () => {
    const command = `sleep 600; ${'x'.repeat(300)}`;
    await background(command);
    const named = `${command.slice(0, 199)}…`;
    expect(await read()).toMatchObject({ command: named });
    const { terminals } = await bench.call('terminal.list', {});
    expect(terminals[0]?.background).toMatchObject([{ command: named }]);
  });

  it.each([
    ['no-such-program', 127, 'not found'],
    ['echo broken; exit 3', 3, 'broken'],
  ])('that fails at once is reported once with its exit code: %s', async (command, code, text) => {
    const result = await background(command);
    if (result.status === 'exited') {
      expect(result).toMatchObject({ exitCode: code, text: expect.stringContaining(text) });
      expect(exits(bench)).toEqual([]);
    } else {
      // A busy machine took longer to begin it than the call waits for an early end.
      await told();
      expect(exits(bench)).toMatchObject([{ exitCode: code }]);
    }
  });

  it.each([
    ['ends by itself', 'echo bye; exit 7', 7],
    ['replaces its shell', "exec sh -c 'echo bye; exit 7'", 7],
    ['is killed', 'echo bye; kill -9 $(sh -c "echo \\$PPID")', 137],
    ['is asked to end', "sh -c 'echo bye; kill -TERM $PPID; sleep 5'", 143],
    ['stops at the first failure', 'set -e; echo bye; false; echo not', 1],
  ])('that %s is told with its exit code and last lines', async (_, command, exitCode) => {
    await background(held(command));
    await bench.run('sleep 0.1; (exit 4)');
    openGate();
    await told();
    expect(exits(bench)).toMatchObject([{ terminal: 'main', status: 'exited', exitCode }]);
    expect(exits(bench)[0]?.text).toMatch(/bye$/m);
    const { terminals } = await bench.call('terminal.list', {});
    expect(terminals[0]?.background).toMatchObject([{ status: 'exited', exitCode }]);
  });

  it('gives its exit code to `wait`, and several end in any order', async () => {
    for (const code of [1, 2, 3]) await background(held(`sleep 0.${3 - code}; exit ${code}`));
    openGate();
    expect(await bench.run('wait $!')).toMatchObject({ exitCode: 3 });
    await told(3);
    expect(exits(bench).map(({ exitCode }) => exitCode)).toEqual(expect.arrayContaining([1, 2, 3]));
  });

  it('outlives its shell, and its exit code is known all the same', async () => {
    await background(held('exit 9'));
    await bench.run('exit 0');
    openGate();
    await told();
    expect(exits(bench)).toMatchObject([{ status: 'exited', exitCode: 9 }]);
  });

  it('is what an interrupt ends and reports, not another command', async () => {
    await background('sleep 600');
    await bench.run('true');
    expect(await bench.call('terminal.interrupt', {})).toMatchObject({
      command: 'sleep 600',
      status: 'interrupted',
      exitCode: 130,
    });
    expect(exits(bench)).toEqual([]);
    await expect(bench.call('terminal.interrupt', {})).rejects.toThrow('Nothing is running');
    await background("trap '' INT; while :; do sleep 0.1; done");
    expect((await bench.call('terminal.interrupt', {})).status).toBe('background');
    expect(await bench.call('terminal.interrupt', { kill: true })).toMatchObject({
      status: 'interrupted',
      exitCode: null,
    });
  });

  it('is told with lines of its own, not those of other commands in its terminal', async () => {
    await background(`echo begins; ${held('echo its own words; exit 4')}`);
    await bench.run('echo of another command');
    openGate();
    await told();
    const [exit] = exits(bench);
    expect(exit).toMatchObject({ exitCode: 4, mixed: true });
    expect(exit?.text).toContain('its own words');
    expect(exit?.text).not.toContain('another');
    await background(held('echo said meanwhile; exit 5', 'second'));
    await bench.run('echo of another command; : >"$HOME/second"; wait $!');
    await told(2);
    expect(exits(bench)[1]).toMatchObject({ exitCode: 5, mixed: true, text: '' });
    expect(exits(bench)[1]?.['from']).toBeGreaterThan(Number(exit?.['from']));
  });

  it('ends at its timeout, which is told', async () => {
    // A busy machine may take longer to answer the call, whose result then has the end already.
    for (const timeout of [0.6, 4, 16]) {
      const result = await bench.run('sleep 600', { background: true, timeout });
      if (result.status === 'background') break;
    }
    await told();
    expect(exits(bench)).toMatchObject([{ status: 'timeout', exitCode: null }]);
  });

  it('that a user interrupts is told', async () => {
    await background('sleep 600');
    await bench.call('terminal.interrupt', { kill: true }, { source: 'user' });
    await told();
    expect(exits(bench)).toMatchObject([{ status: 'interrupted' }]);
  });

  it('is not told of when its terminal is closed', async () => {
    await background('sleep 600');
    await bench.call('terminal.close', { terminal: 'main' });
    expect(exits(bench)).toEqual([]);
  });

  describe('attacks: a forged end', () => {
    const forge = (status: number) => `
d=$(dirname "$(find '${bench.folder}/state' -name reports)")
id=$(sed -n 's/^Max file locks *\\([0-9]*\\).*/\\1/p' /proc/self/limits)
printf 'ended %s ${status}\\000' "$id" >"$d/reports"`;
    const release = `printf '%s\\n' "$id" >"$d/releases"`;
    const shown = (text: RegExp) =>
      until('the dispute is shown', () => text.test(bench.screen()), {
        state: () => bench.screen(),
      });

    it('does not end a command that runs, and the true exit code counts', async () => {
      await background(`(${forge(0)}); : >forged; ${held('echo after; exit 7')}`);
      await until('the end is forged', () => existsSync(join(bench.workspace, 'forged')));
      await staysTrue('no end is told', 300, () => exits(bench).length === 0);
      openGate();
      await told();
      expect(exits(bench)).toMatchObject([{ exitCode: 7 }]);
      await shown(/after[^]*another exit code.*; 7 is taken/);
    });

    it('is not a success either when the one that reports is released beforehand', async () => {
      await background(held(`${forge(0)}; ${release}; exit 7`));
      openGate();
      await told();
      expect(exits(bench)[0]?.exitCode).toBeGreaterThan(0);
      await shown(/another exit code.* is taken/);
    });

    it('is shown also by an agent that is held up until the command is gone', async () => {
      await background(held(`${forge(0)}; ${release}; : >"$HOME/released"; exit 7`));
      openGate();
      while (!existsSync(join(bench.folder, 'released'))) holdUp(10);
      holdUp(500);
      await told();
      expect(exits(bench)[0]?.exitCode).toBeGreaterThan(0);
      await shown(/another exit code.* is taken/);
    });

    it('is not a success when the one that would report is killed first', async () => {
      // The subshell that reports is the parent of the one that runs this.
      const parent = '$(sh -c "sed -n s/^PPid:.//p /proc/\\$PPID/status")';
      await background(held(`(${forge(0)}); kill -9 ${parent}`));
      openGate();
      await told();
      expect(exits(bench)).toMatchObject([{ exitCode: 137 }]);
      await shown(/137 is taken/);
    });
  });
});

describe('a wait until something happens', () => {
  let bench: TerminalBench;
  beforeEach(async () => void (bench = await TerminalBench.open()));
  afterEach(() => bench.close());
  const node = process.execPath;
  const serve = (port: number) =>
    `sleep 0.5; '${node}' -e "require('net').createServer().listen(${port})"`;
  const freePort = async (): Promise<number> => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  };

  it('ends when a port answers', async () => {
    const port = await freePort();
    const command = serve(port);
    const result = await bench.run(command, { background: true, until: { port }, wait: 30 });
    expect(result).toMatchObject({ happened: 'port', status: 'background' });
    expect(await bench.call('terminal.read', { until: { port }, wait: 30 })).toMatchObject({
      happened: 'port',
    });
  });

  it('is not over for a port on which another program listened before', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const result = await bench.run(serve(port), { background: true, until: { port }, wait: 30 });
    server.close();
    expect(result).toMatchObject({ happened: 'end', status: 'exited', exitCode: 1 });
    expect(result.text).toContain('EADDRINUSE');
  });

  it('ends when a text appears, also in pieces and in colours, in the background or not', async () => {
    const command = "printf 'rea'; sleep 0.3; printf '\\033[32mdy\\033[0m now\\n'; sleep 600";
    const until = { text: 'ready now' };
    expect(await bench.run(command, { until })).toMatchObject({
      happened: 'text',
      status: 'running',
    });
    await bench.call('terminal.interrupt', { kill: true });
    const later = "sleep 0.3; printf '\\033[32mready\\033[0m now\\n'; sleep 600";
    expect(await bench.run(later, { until, background: true })).toMatchObject({
      happened: 'text',
      status: 'background',
    });
  });

  it('is over for a text that came since the last reading, and not for one that was read', async () => {
    const text = 'ready now';
    await bench.run(held("echo 'ready' now; sleep 600"), { background: true });
    writeFileSync(join(bench.folder, 'gate'), '');
    await until('it is printed', () => bench.screen().includes(text), {
      state: () => bench.screen(),
    });
    // What the user reads, the model has not read.
    const byUser = await bench.call('terminal.read', {}, { source: 'user' });
    expect(byUser.text).toContain(text);
    const read = (wait: number) => bench.call('terminal.read', { until: { text }, wait });
    expect(await read(30)).toMatchObject({ happened: 'text' });
    expect(await read(0.3)).toMatchObject({ happened: 'time', text: '' });
  });

  it('ends at once when the command dies, with its exit code', async () => {
    const until = { text: 'never' };
    expect(
      await bench.run('sleep 0.6; exit 5', { background: true, until, wait: 60 }),
    ).toMatchObject({ happened: 'end', status: 'exited', exitCode: 5 });
    // It has been dead for a while: a read does not wait for it either.
    const read = await bench.call('terminal.read', { until, wait: 60 });
    expect(read).toMatchObject({ happened: 'end', exitCode: 5 });
  });

  it('is bounded', async () => {
    const wait = 0.3;
    expect(await bench.run('sleep 600', { until: { text: 'never' }, wait })).toMatchObject({
      happened: 'time',
      status: 'running',
    });
    await expect(bench.run('true', { until: {} })).rejects.toThrow('a port or a text');
  });

  it('ends when the user writes: the command goes on', async () => {
    const controller = new AbortController();
    const run = bench.call(
      'terminal.run',
      { command: 'sleep 600', wait: 60 },
      { userWrote: controller.signal },
    );
    await until('it runs', () => bench.terminals.running().length === 1);
    controller.abort();
    expect(await run).toMatchObject({ happened: 'message', status: 'running' });
    expect(bench.terminals.running()).toHaveLength(1);
  });
});
