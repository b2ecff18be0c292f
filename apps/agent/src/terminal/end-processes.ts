import { setImmediate as yieldNow, setTimeout as sleep } from 'node:timers/promises';
import { listProcesses, signalAll, type Process } from './process-tree.js';

/**
 * How long killed processes may take to end while no new ones start; afterwards they are assumed to hang in the
 * kernel.
 */
const hangTimeoutMs = 5_000;
/** The total limit, even if new processes keep starting. */
const killTimeoutMs = 30_000;
/** After this many searches with new processes, all are stopped before they are killed; also if there are many. */
const passesBeforeStop = 3;
/** This many processes come close to usual process limits; ended ones count until they are reaped. */
const manyProcesses = 64;
const reapTimeoutMs = 5_000;

type Signal = typeof signalAll;

/**
 * Ends processes: first with SIGTERM if there is a timeout for it, then with SIGKILL until none is left, including
 * those that start meanwhile. `find` is called again each time.
 */
export async function endProcesses(
  find: () => Process[],
  termTimeoutMs: number,
  signal: Signal = signalAll,
): Promise<void> {
  if (termTimeoutMs > 0) {
    const found = find();
    signal(found, 'SIGTERM');
    signal(found, 'SIGCONT');
    const until = Date.now() + termTimeoutMs;
    while (Date.now() < until && find().length > 0) await sleep(20);
  }
  const killed = await killAll(find, signal);
  if (killed.size >= manyProcesses) await untilReaped(killed);
}

/** Returns the keys of all killed processes. */
async function killAll(find: () => Process[], signal: Signal): Promise<Set<string>> {
  const killed = new Set<string>();
  const end = Date.now() + killTimeoutMs;
  let hangsAt = Date.now() + hangTimeoutMs;
  let passes = 0;
  for (let empty = 0; empty < 2 && Date.now() < Math.min(end, hangsAt);) {
    const found = find();
    const bomb = passes >= passesBeforeStop || found.length >= manyProcesses;
    const left = bomb ? await stopAll(found, { find, signal, end }) : found;
    signal(left, 'SIGKILL');
    if (left.some((each) => !killed.has(key(each)))) {
      passes += 1;
      hangsAt = Date.now() + hangTimeoutMs;
    }
    for (const each of left) killed.add(key(each));
    empty = left.length === 0 ? empty + 1 : 0;
    await sleep(left.length === 0 ? 5 : 10);
  }
  return killed;
}

/**
 * Stops all processes until a search finds none that runs, and returns them. Killing alone frees process ids, which a
 * fork bomb uses again between two signals; stopped processes keep theirs. Only for fork bombs, because a shell
 * reports stopped children as after Ctrl-Z.
 */
async function stopAll(
  found: Process[],
  { find, signal, end }: { find: () => Process[]; signal: Signal; end: number },
): Promise<Process[]> {
  const stopped = new Map<string, Process>();
  let running = found;
  while (running.length > 0) {
    signal(running, 'SIGSTOP');
    for (const each of running) stopped.set(key(each), each);
    if (Date.now() >= end) break;
    await yieldNow();
    running = find().filter((each) => !stopped.has(key(each)));
  }
  return [...stopped.values()];
}

/** Zombies count toward the process limit. */
async function untilReaped(processes: Set<string>): Promise<void> {
  const until = Date.now() + reapTimeoutMs;
  while (Date.now() < until && listProcesses().some((each) => processes.has(key(each)))) {
    await sleep(20);
  }
}

function key({ pid, start }: Process): string {
  return `${pid} ${start}`;
}
