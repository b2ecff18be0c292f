import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { ProgramProcess } from './program-process.js';

const start = (script: string) =>
  new ProgramProcess(
    { command: [process.execPath, '-e', script], env: {}, files: [] },
    { cwd: '/', env: {} },
  );

/** A process in a session of its own, without parents, that keeps the program’s output open. */
const leaving = `
  const { spawn } = require('node:child_process');
  const left = spawn('setsid', ['sh', '-c', 'sleep 300 & echo $!'], { stdio: 'inherit' });
  left.on('exit', () => process.exit(3));`;

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

it('ends with what it started, however that got away', async () => {
  const program = start(leaving);
  const [printed] = (await once(program.output, 'data')) as [Buffer];
  const pid = Number(String(printed));
  expect(commandOf(pid)).toContain('sleep');
  await expect(program.ended).resolves.toEqual({ code: 3, signal: null });
  // One that nobody has reaped yet has no command.
  expect(commandOf(pid)).toBe('');
});

it('says that there is no such program', async () => {
  const launch = { command: ['/nowhere/program'], env: {}, files: [], newSession: {} };
  const program = new ProgramProcess(launch, { cwd: '/', env: {} });
  await expect(program.ended).resolves.toMatchObject({ code: 127 });
});
