import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryKills } from '../memory-kills.js';
import { keySequence } from './key-sequences.js';
import { PlainOutput } from './plain-output.js';
import { TerminalBench } from './testing/terminal-bench.js';
import { withoutRepeats } from './without-repeats.js';

describe('the result of a command', () => {
  let bench: TerminalBench;
  let group: string;
  beforeEach(async () => {
    group = mkdtempSync(join(tmpdir(), 'belay-group-'));
    writeFileSync(join(group, 'memory.events'), 'low 0\noom 2\noom_kill 2\n');
    writeFileSync(join(group, 'memory.max'), `${2048 * 1024 ** 2}\n`);
    bench = await TerminalBench.open({ memoryKills: new MemoryKills(group) });
  });
  afterEach(async () => {
    await bench.close();
    rmSync(group, { recursive: true, force: true });
  });
  const kernelKills = () => `echo 'oom_kill 3' > '${group}/memory.events'`;

  it('names the memory limit only if the kernel’s counter rose meanwhile', async () => {
    const killed = "sh -c 'kill -9 $$'";
    expect(await bench.run(killed)).toMatchObject({ exitCode: 137, killed: 'killed by signal 9' });
    expect(await bench.run(`${kernelKills()}; ${killed}`)).toMatchObject({
      exitCode: 137,
      killed: 'killed: the memory limit of 2048 MiB',
    });
    // What rose before is not this command’s.
    expect(await bench.run(killed)).toMatchObject({ killed: 'killed by signal 9' });
    expect(await bench.run('false')).not.toHaveProperty('killed');
  });

  it('tells of a killed process in a command that ended otherwise', async () => {
    expect(await bench.run(`${kernelKills()}; false`)).toMatchObject({
      exitCode: 1,
      killed: 'the kernel killed a process while this ran: the memory limit of 2048 MiB',
    });
  });

  it('says nothing about memory where no counter is', async () => {
    rmSync(join(group, 'memory.events'));
    expect(await bench.run("sh -c 'kill -9 $$'")).toMatchObject({ killed: 'killed by signal 9' });
  });

  it('names a file with all of a long output', async () => {
    const { text, omittedBytes, file } = await bench.run('seq 1 30000');
    expect(omittedBytes).toBeGreaterThan(0);
    expect(text).toMatch(/^1\n2\n/);
    const all = Array.from({ length: 30_000 }, (_, index) => `${index + 1}\n`).join('');
    expect(readFileSync(file ?? '', 'utf8') === all).toBe(true);
    expect(await bench.run(`wc -l < '${file}'`)).toMatchObject({ text: '30000\n' });
    // The control: a short output needs none.
    expect(await bench.run('seq 1 3')).not.toHaveProperty('file');
  });

  it('has plain text in that file, and removes it with the terminal', async () => {
    const { file = '' } = await bench.run(
      `for i in $(seq 1 4000); do printf '\\033[31m%s\\033[0m\\n' "$i"; done`,
    );
    expect(readFileSync(file, 'utf8').slice(0, 6)).toBe('1\n2\n3\n');
    await bench.call('terminal.close', { terminal: 'main' });
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });

  it('has equal lines once', async () => {
    const { text } = await bench.run('yes same | head -n 500; echo other');
    expect(text).toBe('same\n… the same line 499 more times …\nother\n');
  });

  it('has no prompt of the shell between the lines of a program', async () => {
    // A terminal may give a line and its end one after the other; what has no end comes whole.
    const { text } = await bench.run('sleep 0.3; echo Serving; printf there; sleep 100', {
      terminal: 'web',
      background: true,
      until: { text: 'there' },
      wait: 60,
    });
    expect(text).toBe('Serving\nthere');
  });

  it('does not come from an editor', async () => {
    const command =
      'git init -q x && cd x && git -c user.name=a -c user.email=b commit --allow-empty';
    expect((await bench.run(command)).text).toContain('empty commit message');
    expect((await bench.run('echo "$EDITOR $VISUAL $GIT_EDITOR"')).text).toBe('true true true\n');
  });

  it('says what a new shell does not have', async () => {
    await bench.run('kill -9 $$', { wait: 20 });
    expect((await bench.run('echo again', { wait: 20 })).text).toContain('again');
    expect(bench.screen()).toContain('without the variables and functions that were set');
  });
});

it('keys have the sequences of a terminal', () => {
  expect(['ctrl-x', 'ctrl-o', 'ctrl-c', 'enter', 'f1', 'f10', 'page-up'].map(keySequence)).toEqual([
    '\x18',
    '\x0f',
    '\x03',
    '\r',
    '\x1bOP',
    '\x1b[21~',
    '\x1b[5~',
  ]);
});

it('a few equal lines stay', () => {
  expect(withoutRepeats('a\na\na\nb')).toBe('a\na\na\nb');
  expect(withoutRepeats('a\na\na\na\nb\n')).toBe('a\n… the same line 3 more times …\nb\n');
});

it.each([
  ['a\r\nb\rc\n', 'a\nb\rc\n'],
  ['\x1b[1;31mred\x1b[0m \x1b(Bé\x1b[?25l\n', 'red é\n'],
  ['\x1b]0;title\x07x\x1b]8;;http://a\x1b\\link\n', 'xlink\n'],
  // What never ends costs no more than its line.
  ['\x1b]0;title\nnext\x1b[12\nlast\n', '\nnext\nlast\n'],
])('%j is plain as %j, however it is cut', (bytes, plain) => {
  const whole = new PlainOutput().take(Buffer.from(bytes));
  expect(whole.toString()).toBe(plain);
  const output = new PlainOutput();
  const pieces = [...Buffer.from(bytes)].map((byte) =>
    Buffer.from(output.take(Uint8Array.of(byte))),
  );
  expect(Buffer.concat(pieces).toString()).toBe(plain);
});
