import { setTimeout as sleep } from 'node:timers/promises';
import { openPty, type Pty } from './pty.js';

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
  while (!printed().includes('begun')) await sleep(5);
  pty.write('\r');
  pty.pause();
  let over = false;
  void ended.then(() => (over = true));
  // Longer than output is waited for where nobody holds it back.
  await sleep(500);
  expect(over).toBe(false);
  pty.resume();
  expect(await ended).toBe(0);
  expect(printed()).toContain('rest');
});

it('ends though a background process keeps the terminal open', async () => {
  const { pty, printed, ended } = start(`(trap '' HUP; exec sleep 60) & echo $!; exit 3`);
  expect(await ended).toBe(3);
  process.kill(Number(printed()), 'SIGKILL');
  expect(() => pty.resize(100, 40)).not.toThrow();
  pty.write('nobody reads this');
});

it('erases a whole character, not a byte, with a backspace', async () => {
  const { pty, printed, ended } = start(`printf begun; read line; printf "[%s]" "$line"`);
  while (!printed().includes('begun')) await sleep(5);
  pty.write('aé\x7fb\r');
  await ended;
  expect(printed()).toContain('[ab]');
});

it('says that a program cannot be found by its exit', async () => {
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
