import { readdirSync, readFileSync } from 'node:fs';
import { leastNumber } from './process-numbers.js';

/** A process; its start time distinguishes it from a later one with the same id. */
export interface Process {
  pid: number;
  parent: number;
  /** In ticks of 10 ms since boot. */
  start: number;
  zombie: boolean;
}

/** Identifies the processes to find. */
export interface Origin {
  numbers: { first: number; last: number };
  /** The shell that runs the commands; it is not included. */
  shell: number | undefined;
  /** `now()` from before the first process started. */
  since: number;
}

/** The current time as a process's start time. */
export function now(): number {
  return Math.floor(Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 100);
}

/**
 * The living processes of an origin, whatever they did to get away.
 *
 * Each command has a number, to which its shell sets its own soft limit of file locks before it runs the command. Linux
 * has not enforced that limit since 2.4.25 (setrlimit(2), RLIMIT_LOCKS), hands it down at fork, keeps it at exec, and
 * shows it to all. So it is known of a process without parents, session, environment or its first user which command
 * it comes from, whatever else runs meanwhile.
 *
 * One that gave itself another limit, or whose shell was forbidden to set it, is known as long as its parents live.
 * Not known: one that did that and lost its parents. What a server starts when asked comes from the server's command.
 */
export function processesFrom(origin: Origin, all = listProcesses()): Process[] {
  const byPid = new Map(all.map((process) => [process.pid, process]));
  const verdicts = new Map<number, boolean>();

  const judge = (process: Process): boolean => {
    const known = verdicts.get(process.pid);
    if (known !== undefined) return known;
    // Set before the decision: cycles are impossible, but pids are reused while we read.
    verdicts.set(process.pid, false);
    const verdict = decide(process);
    verdicts.set(process.pid, verdict);
    return verdict;
  };
  const decide = ({ pid, parent, start }: Process): boolean => {
    if (pid === origin.shell) return false;
    const number = numberOf(pid);
    if (number !== undefined)
      return origin.numbers.first <= number && number <= origin.numbers.last;
    if (parent === origin.shell) return start >= origin.since;
    const elder = byPid.get(parent);
    return elder !== undefined && judge(elder);
  };
  return all.filter((process) => !process.zombie && judge(process));
}

/** Whether the process still runs. */
export function isProcessAlive({ pid, start }: Process): boolean {
  const found = readProcess(pid);
  return found?.start === start && !found.zombie;
}

/** Signals these processes, unless their ids now belong to other ones. */
export function signalAll(processes: Process[], signal: NodeJS.Signals): void {
  for (const { pid, start } of processes) {
    if (readProcess(pid)?.start !== start) continue;
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself, or changed its user and is out of reach.
    }
  }
}

export function listProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((process) => process !== undefined);
}

function readProcess(pid: number): Process | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    zombie: fields[0] === 'Z' || fields[0] === 'X',
    parent: Number(fields[1]),
    start: Number(fields[19]),
  };
}

/** Undefined when the process has no number of ours, or has ended. */
function numberOf(pid: number): number | undefined {
  const limit = /^Max file locks +(\d+)/m.exec(readText(`/proc/${pid}/limits`) ?? '')?.[1];
  return Number(limit) >= leastNumber ? Number(limit) : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
