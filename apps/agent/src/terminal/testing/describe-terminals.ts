import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { itLong, until } from '@belay/testing';
import { caseWaitSeconds } from '../conformance/target.js';
import { TerminalBench } from './terminal-bench.js';

/** The bench of the running test. */
type Bench = () => TerminalBench;

const appears = (bench: Bench, what: string, check: () => boolean) =>
  until(what, check, { state: () => bench().screen() });
const changes = (bench: Bench) =>
  bench().events.map(
    ({ args }) => `${String(args.terminal)} ${String(args.change)} ${String(args.holder)}`,
  );

/** Keeps this process, and thus the agent, from reading anything. */
const stall = (milliseconds: number) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** Like `stall`, until a command has written the file; at most half a minute. */
function stallUntilFile(file: string): void {
  for (let tries = 0; !existsSync(file); tries++) {
    if (tries === 3_000) throw new Error(`${file} was not written.`);
    stall(10);
  }
}

/** What terminals are for agents and users, whatever the shell. */
export function describeTerminals(shell: 'bash' | 'sh'): void {
  const bench = benchWith(shell);
  describeReports(bench);
  describeTakingOver(bench);
  describeCancelling(bench);
}

/** How output arrives while the agent’s process is too busy to read it, which takes seconds. */
export function describeStalled(shell: 'bash' | 'sh'): void {
  describe(`terminals with ${shell}, of a process that is kept waiting`, () => {
    const bench = benchWith(shell);
    test('output is whole though this process is kept waiting', async () => {
      await bench().run('i=0; while [ $i -lt 300000 ]; do i=$((i+1)); echo "<$i>"; done', {
        background: true,
      });
      let stalls = 0;
      const stallOften = () => {
        stall(450);
        stalls += 1;
        if (stalls < 30) setImmediate(stallOften);
      };
      stallOften();
      for (const turn of [1, 2, 3]) {
        const { file, text } = await bench().run(`echo "[turn$((${turn}))]"`, {
          wait: caseWaitSeconds,
        });
        // The other command may have printed so much meanwhile that the middle of the text is left out.
        const whole = file === undefined ? text : await readFile(file, 'utf8');
        expect(whole).toContain(`[turn${turn}]`);
      }
      stalls = 30;
    });
  });
}

function benchWith(shell: 'bash' | 'sh'): Bench {
  let bench: TerminalBench;
  beforeEach(async () => void (bench = await TerminalBench.open({ shell })));
  afterEach(() => bench.close());
  return () => bench;
}

function describeReports(bench: Bench): void {
  test('reports when a terminal opens, changes and closes', async () => {
    await bench().run('true');
    bench().terminals.resize('main', 100, 40);
    bench().terminals.resize('main', 100, 40);
    bench().terminals.hold('main', 'user');
    bench().terminals.hold('main', 'user');
    await bench().call('terminal.close', { terminal: 'main' });
    expect(changes(bench)).toEqual([
      'main opened agent',
      'main resized agent',
      'main held user',
      'main closed user',
    ]);
    expect(await bench().call('terminal.close', { terminal: 'main' })).toEqual({ closed: false });
  });

  test('what the user types is noted with the place of its output', async () => {
    await bench().run('true');
    bench().terminals.hold('main', 'user');
    bench().terminals.keys('main', 'echo typed-$((6*7))\r');
    const typed = () => bench().events.find(({ args }) => args.change === 'typed');
    await appears(bench, 'a note of what was typed', () => typed() !== undefined);
    const to = Number(typed()?.args.to);
    await appears(bench, 'its output', () => bench().screen().includes('typed-42'));
    bench().terminals.hold('main', 'agent');
    expect(Number(bench().events.at(-1)?.args.to)).toBeGreaterThanOrEqual(to);
    expect(to).toBeGreaterThan(0);
  });

  test('a terminal that is opened while it closes begins after its end', async () => {
    await bench().run('cd /; sleep 100', { background: true });
    const closed = bench().call('terminal.close', { terminal: 'main' });
    expect((await bench().run('echo again')).text).toBe('again\n');
    expect(await closed).toEqual({ closed: true });
    expect(changes(bench)).toEqual(['main opened agent', 'main closed agent', 'main opened agent']);
    expect((await bench().call('terminal.list', {})).terminals).toHaveLength(1);
  });

  test('lists what runs', async () => {
    await bench().run('sleep 600', { background: true });
    await bench().run('sleep 601', { wait: 0.1 });
    expect(bench().terminals.running()).toEqual([
      { terminal: 'main', command: 'sleep 601' },
      { terminal: 'main', command: 'sleep 600' },
    ]);
  });

  test('the environment is calm and has nothing of the agent', async () => {
    const { text } = await bench().run(
      'echo "$PAGER $GIT_PAGER $TERM"; env | grep -c "^BELAY" || :',
    );
    expect(text).toBe('cat cat xterm-256color\n0\n');
  });

  test('ten callers of one terminal get their own answers, in order', async () => {
    const runs = Array.from({ length: 10 }, (_, index) =>
      bench().run(`echo "<${index}>"; (exit ${index})`),
    );
    const results = await Promise.all(runs);
    expect(results.map(({ text, exitCode }) => `${text.trim()}${exitCode}`)).toEqual(
      Array.from({ length: 10 }, (_, index) => `<${index}>${index}`),
    );
  });
}

function describeTakingOver(bench: Bench): void {
  test('a user takes a terminal over, types, and hands it back with directory and variables', async () => {
    await bench().run('v=1');
    expect(() => bench().terminals.keys('main', 'ls\r')).toThrow('take it over first');
    bench().terminals.hold('main', 'user');
    bench().terminals.keys('main', 'mkdir -p mine; cd mine; v=$((v+41)); echo v is $v\r');
    await appears(bench, 'the user sees it', () => bench().screen().includes('v is 42\r\n'));
    await expect(bench().run('true')).rejects.toThrow('The user has taken over the terminal main');
    expect((await bench().call('terminal.list', {})).terminals[0]?.holder).toBe('user');
    bench().terminals.keys('main', 'half a comm');
    await appears(bench, 'the echo', () => bench().screen().includes('half a comm'));
    bench().terminals.hold('main', 'agent');
    const result = await bench().run('echo $v; basename "$PWD"');
    expect(result.text).toBe('42\nmine\n');
  });

  itLong('an order that a Ctrl-C drops is repeated, and the ^C is not its output', async () => {
    await bench().run('v=1');
    await appears(bench, 'the prompt', () => bench().screen().endsWith('$ '));
    bench().terminals.find('main')?.type('\x03');
    // The shell waits for another order now, and nobody has read that yet.
    stall(500);
    expect((await bench().run('echo $v')).text).toBe('1\n');
  });

  itLong('a terminal is handed back while its shell waits already, unread', async () => {
    await bench().run('v=1');
    for (const turn of [1, 2, 3]) {
      bench().terminals.hold('main', 'user');
      bench().terminals.keys('main', `echo turn-$((${turn}))\r`);
      const prompt = new RegExp(String.raw`turn-${turn}\r\n.*\$ $`, 's');
      await appears(bench, 'the prompt', () => prompt.test(bench().screen()));
      bench().terminals.keys('main', `v=$((v+1)); : > "$HOME/done-${turn}"\r`);
      stallUntilFile(join(bench().folder, `done-${turn}`));
      stall(200);
      bench().terminals.hold('main', 'agent');
      expect(await bench().run('sleep 0.1; echo $v')).toMatchObject({
        text: `${turn + 1}\n`,
        exitCode: 0,
      });
    }
  });

  itLong('a terminal is handed back while its prompt is shown, unread', async () => {
    await bench().run('v=1');
    bench().terminals.hold('main', 'user');
    stall(300);
    bench().terminals.hold('main', 'agent');
    // Nothing that the agent types to come back gets into a command.
    for (let times = 0; times < 20; times++)
      expect((await bench().run('echo $v')).text).toBe('1\n');
  });

  test('a user answers a program of the agent', async () => {
    const run = bench().run('printf \'sure? \'; read -r answer; echo "you said $answer"', {
      wait: 30,
    });
    await appears(bench, 'the question', () => bench().screen().includes('sure? '));
    bench().terminals.hold('main', 'user');
    bench().terminals.keys('main', 'yes\r');
    expect((await run).text).toContain('you said yes\n');
    bench().terminals.hold('main', 'agent');
    expect((await bench().run('echo on')).text).toBe('on\n');
  });

  test('a program of a user continues after the terminal was handed back', async () => {
    await bench().run('true');
    bench().terminals.hold('main', 'user');
    // What prints is in front of the shell already: taken back before, the terminal would have no program.
    const program = `sh -c "printf 'be%s' gun; exec sleep 600"`;
    bench().terminals.keys('main', `${program}; echo woken\r`);
    await appears(bench, 'it runs', () => bench().screen().includes('begun'));
    bench().terminals.hold('main', 'agent');
    await expect(bench().run('true', { wait: 0.3 })).rejects.toThrow('is not ready');
    expect(await bench().call('terminal.interrupt', {})).toMatchObject({ terminal: 'main' });
    expect((await bench().run('echo on')).text).toBe('on\n');
  });

  itLong('the echo of a key does not wait', async () => {
    await bench().run('true');
    bench().terminals.hold('main', 'user');
    const before = bench().screen().length;
    bench().terminals.keys('main', 'xyz');
    await appears(bench, 'the echo', () => bench().screen().slice(before).includes('xyz'));
  });
}

function describeCancelling(bench: Bench): void {
  test('a cancelled call interrupts its command', async () => {
    const controller = new AbortController();
    const run = bench().call(
      'terminal.run',
      { command: 'sleep 600' },
      { signal: controller.signal },
    );
    await appears(bench, 'it runs', () => bench().terminals.running().length === 1);
    controller.abort();
    expect((await run).status).toBe('interrupted');
    expect((await bench().run('echo on')).text).toBe('on\n');
  });

  itLong('a cancelled call ends a command that ignores Ctrl-C', async () => {
    const controller = new AbortController();
    const command = 'sh -c \'trap "" INT; echo begun; while :; do sleep 0.1; done\'';
    const run = bench().call('terminal.run', { command }, { signal: controller.signal });
    await appears(bench, 'it runs', () => bench().screen().includes('begun\r\n'));
    controller.abort();
    expect((await run).status).toBe('interrupted');
    expect(bench().terminals.running()).toEqual([]);
  });

  test('a call that is cancelled while it waits for its turn never runs', async () => {
    const first = bench().run('until [ -e go ]; do sleep 0.02; done; echo first');
    const controller = new AbortController();
    const second = bench().call(
      'terminal.run',
      { command: 'echo second' },
      { signal: controller.signal },
    );
    await appears(bench, 'the first runs', () => bench().terminals.running().length === 1);
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: 'cancelled' });
    await writeFile(join(bench().workspace, 'go'), '');
    expect((await first).text).toBe('first\n');
    expect((await bench().run('true')).status).toBe('exited');
    expect(bench().screen()).not.toContain('echo second');
  });
}
