import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ProcessNumbers } from './process-numbers.js';
import { listProcesses, now, processesFrom, signalAll } from './process-tree.js';

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    const closed = child.stdout?.closed ? undefined : once(child, 'close');
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch {
      // Nobody is left of it.
    }
    await closed;
  }
});

/** Resolves once the script has printed something. */
async function start(script: string): Promise<number> {
  const child = spawn('sh', ['-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

const tagged = (number: number) => `ulimit -S -x ${number} 2>&- || ulimit -S -w ${number}`;

test('a process that took over an id is not signalled', async () => {
  const pid = await start('echo; exec sleep 600');
  const found = listProcesses().find((process) => process.pid === pid);
  expect(found).toBeDefined();
  if (!found) return;
  signalAll([{ ...found, start: found.start - 1 }], 'SIGKILL');
  expect(listProcesses().some((process) => process.pid === pid && !process.zombie)).toBe(true);
  signalAll([found], 'SIGKILL');
  expect(await once(children[0] as ChildProcess, 'exit')).toEqual([null, 'SIGKILL']);
});

test('a process is known by its number, however old it is', async () => {
  const numbers = new ProcessNumbers();
  const [first, second] = [numbers.next(), numbers.next()];
  const pid = await start(`${tagged(first)}; echo; exec sleep 600`);
  const found = (range: { first: number; last: number }) =>
    processesFrom({ numbers: range, shell: undefined, since: now() }).map((each) => each.pid);
  expect(found({ first, last: first })).toEqual([pid]);
  expect(found(numbers)).toEqual([pid]);
  expect(found({ first: second, last: second })).toEqual([]);
  expect(found(new ProcessNumbers())).toEqual([]);
});

test('one without a number is known by its parents, and by the shell it began in', async () => {
  const number = new ProcessNumbers().next();
  const numbers = { first: number, last: number };
  const since = now();
  const shell = await start('sh -c "sleep 600 & echo; wait" & wait');
  const found = (origin: { shell: number | undefined; since: number }) =>
    processesFrom({ numbers, ...origin }).length;
  expect(found({ shell, since })).toBe(2);
  expect(found({ shell, since: since + 100_000 })).toBe(0);
  expect(found({ shell: undefined, since })).toBe(0);
});

test('one that took another limit is known by its parents', async () => {
  const number = new ProcessNumbers().next();
  await start(`${tagged(number)}; (${tagged(5)}; exec sh -c "echo; exec sleep 600") & wait`);
  const numbers = { first: number, last: number };
  expect(processesFrom({ numbers, shell: undefined, since: 0 })).toHaveLength(2);
});
