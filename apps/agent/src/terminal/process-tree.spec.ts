import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { listProcesses, now, processesOf, signalAll } from './process-tree.js';

test('a process that took over an id is not signalled', async () => {
  const child = spawn('sleep', ['600']);
  await once(child, 'spawn');
  const found = listProcesses().find(({ pid }) => pid === child.pid);
  expect(found).toBeDefined();
  if (!found) return;
  signalAll([{ ...found, start: found.start - 1 }], 'SIGKILL');
  expect(listProcesses().some(({ pid, zombie }) => pid === child.pid && !zombie)).toBe(true);
  signalAll([found], 'SIGKILL');
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
});

test('processes are told by their variable, and older ones never', async () => {
  const value = `test-${process.pid}`;
  const since = now();
  // In a session of its own, as a shell's commands are: whoever shares one belongs to the tree.
  const env = { PATH: '/usr/bin:/bin', BELAY_COMMAND: value };
  const child = spawn('sleep', ['600'], { env, detached: true });
  await once(child, 'spawn');
  const origin = { shell: 1, variable: 'BELAY_COMMAND', value, since } as const;
  const pids = () => processesOf(origin).map(({ pid }) => pid);
  for (const end = Date.now() + 10_000; pids().length === 0 && Date.now() < end;)
    await Promise.resolve();
  expect(pids()).toEqual([child.pid]);
  expect(processesOf({ ...origin, since: since + 100_000 })).toEqual([]);
  expect(processesOf({ ...origin, value: 'other' })).toEqual([]);
  child.kill('SIGKILL');
  await once(child, 'exit');
});
