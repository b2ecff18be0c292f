import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { maxCheckOutput } from '@belay/protocol';
import { until } from '@belay/testing';
import { runCheck } from './run-check.js';

describe('a check', () => {
  let cwd: string;
  beforeEach(() => void (cwd = mkdtempSync(join(tmpdir(), 'belay-check-'))));
  afterEach(() => rmSync(cwd, { recursive: true }));

  const run = (
    command: string,
    { signal = new AbortController().signal, timeoutMs = 60_000 } = {},
  ) => runCheck(command, { cwd, env: { PATH: process.env['PATH'] ?? '' }, timeoutMs, signal });
  const isAlive = (pid: string): boolean => {
    try {
      return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  };

  it('tells how its command ended, and what it printed last, in order', async () => {
    const { exitCode, output } = await run('echo one; echo two >&2; pwd; echo "CI=$CI"; exit 3');
    expect({ exitCode, output }).toEqual({ exitCode: 3, output: `one\ntwo\n${cwd}\nCI=1\n` });
    expect(await run('kill -9 $$')).toMatchObject({ exitCode: 137 });
    const long = await run('yes | head -c 200000; echo end');
    expect(long.output).toHaveLength(maxCheckOutput);
    expect(long.output.endsWith('y\nend\n')).toBe(true);
  });

  it('ends what its command left, which cannot keep its output open', async () => {
    const { output } = await run('sleep 1000 & echo $!');
    await until('the program that it left ends', () => !isAlive(output.trim()));
  });

  it('ends when it is cancelled, or takes too long', async () => {
    const cancelled = new AbortController();
    const running = run('sleep 1000', { signal: cancelled.signal });
    cancelled.abort();
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    await expect(run('sleep 1000', { timeoutMs: 1 })).rejects.toMatchObject({ code: 'timeout' });
  });
});
