import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause, staysTrue, until } from '@belay/testing';
import { freeProcesses, openPty, type Pty } from './pty.js';

/** A shell command in a pseudoterminal: what it has printed, and its end. */
function start(command: string): { pty: Pty; printed(): string; ended: Promise<number> } {
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const pieces: Buffer[] = [];
  const pty = openPty({
    file: '/bin/sh',
    args: ['-c', command],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    columns: 80,
    rows: 24,
    onData: (bytes) => void pieces.push(Buffer.from(bytes)),
    onExit: ({ code }) => resolve(code),
  });
  return { pty, printed: () => Buffer.concat(pieces).toString(), ended };
}

const count = 3_000;
const lines = Array.from({ length: count }, (_, index) => `${index + 1}\r\n`).join('');

it('ends with the exit code, after the last byte', async () => {
  const { printed, ended } = start(`seq ${count}; exit 7`);
  expect(await ended).toBe(7);
  expect(printed()).toBe(lines);
});

it('keeps what a full buffer holds back when the process ends meanwhile', async () => {
  const { pty, printed, ended } = start(`printf begun; read line; printf rest`);
  await until('begun', () => printed().includes('begun'));
  pty.write('\r');
  pty.pause();
  let over = false;
  void ended.then(() => (over = true));
  // Longer than output is waited for where nobody holds it back.
  await staysTrue('it has not ended', 500, () => !over);
  pty.resume();
  expect(await ended).toBe(0);
  expect(printed()).toContain('rest');
});

it('keeps what was printed before the end when the agent is held up', async () => {
  const { pty, printed, ended } = start(`printf begun; read line; printf rest`);
  await until('begun', () => printed().includes('begun'));
  pty.write('\r');
  pty.pause();
  await staysTrue('nothing is read', 300, () => !printed().includes('rest'));
  const resumed = pause(1, 'so that it is resumed by a timer').then(() => pty.resume());
  // Now it is resumed when the time for the last output is over as well.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
  await resumed;
  expect(await ended).toBe(0);
  expect(printed()).toContain('rest');
});

it('ends though a background process keeps the terminal open', async () => {
  const { pty, printed, ended } = start(`trap '' HUP; sleep 60 & echo $!; exit 3`);
  expect(await ended).toBe(3);
  process.kill(Number(printed()), 'SIGKILL');
  expect(() => pty.resize(100, 40)).not.toThrow();
  pty.write('nobody reads this');
});

it('erases a whole character, not a byte, with a backspace', async () => {
  const { pty, printed, ended } = start(`printf begun; read line; printf "[%s]" "$line"`);
  await until('begun', () => printed().includes('begun'));
  pty.write('aé\x7fb\r');
  await ended;
  expect(printed()).toContain('[ab]');
});

it('is the terminal of a session of its own, in which jobs are controlled', async () => {
  const { printed, ended } = start(
    `stty size </dev/tty; test $$ = $(ps -o sid= -p $$) && echo own`,
  );
  expect(await ended).toBe(0);
  expect(printed()).toBe('24 80\r\nown\r\n');
});

it('is inherited by no other program, so that it is hung up when it is closed', async () => {
  const first = start('read line');
  const second = start('readlink /proc/self/fd/*');
  const pseudoterminals = new Set((await second.ended, second.printed()).match(/\/dev\/pt\S+/g));
  expect(pseudoterminals.size).toBe(1);
  first.pty.write('\r');
  await first.ended;
});

it('leaves nothing open when the program cannot be started', () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  // Longer than the system takes.
  expect(() => start('x'.repeat(3_000_000))).toThrow('No process');
  expect(open()).toBe(before);
});

it('reports by its exit that a program cannot be found', async () => {
  const { promise, resolve } = Promise.withResolvers<{ code: number }>();
  openPty({
    file: '/no/such/program',
    args: [],
    cwd: '/',
    env: {},
    columns: 80,
    rows: 24,
    onData: () => undefined,
    onExit: resolve,
  });
  expect((await promise).code).not.toBe(0);
});

describe('the processes that may still begin', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-pids-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const limit = (most: string, now: string) => {
    writeFileSync(join(folder, 'pids.max'), `${most}\n`);
    writeFileSync(join(folder, 'pids.current'), `${now}\n`);
    return freeProcesses([join(folder, 'none'), folder]);
  };

  it('are counted by the control group, where it has a limit', () => {
    expect(limit('512', '505')).toBe(7);
    expect(limit('max', '505')).toBe(Infinity);
    expect(freeProcesses([join(folder, 'none')])).toBe(Infinity);
  });
});
