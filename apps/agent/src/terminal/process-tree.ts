import { readdirSync, readFileSync } from 'node:fs';

/** A process, told apart from a later one with the same id by its start. */
export interface Process {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** In ticks of 10 ms since boot. */
  start: number;
  zombie: boolean;
}

/** Whose processes are meant: those that inherited a variable from a shell, and no older ones. */
export interface Origin {
  shell: number;
  variable: 'BELAY_COMMAND' | 'BELAY_TERMINAL';
  value: string;
  /** `now()` before the first of them began. */
  since: number;
}

/** The present as a process's start time. */
export function now(): number {
  return Math.floor(Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 100);
}

/**
 * The processes of an origin, also those that left its session or lost their parents.
 * The variable in their environment tells; a fork of the shell that has run no program yet still shows the shell's own
 * environment, and is known by its parents, or by its session when they are gone.
 */
export function processesOf(origin: Origin, all = listProcesses()): Process[] {
  const byPid = new Map(all.map((process) => [process.pid, process]));
  const verdicts = new Map<number, boolean>([[origin.shell, false]]);

  const judge = (process: Process): boolean => {
    const known = verdicts.get(process.pid);
    if (known !== undefined) return known;
    // Until decided: a cycle cannot be, but pids are reused while we read.
    verdicts.set(process.pid, false);
    const verdict = decide(process);
    verdicts.set(process.pid, verdict);
    return verdict;
  };
  const decide = (process: Process): boolean => {
    if (process.start < origin.since) return false;
    const value = variableOf(process.pid, origin.variable);
    if (value !== undefined) return value === origin.value;
    if (process.parent === origin.shell) return true;
    const parent = byPid.get(process.parent);
    const leader = byPid.get(process.group);
    if (parent && judge(parent)) return true;
    if (leader && leader !== process && leader.pid !== origin.shell && judge(leader)) return true;
    const orphan = !parent || parent.session !== process.session;
    return orphan && process.session === origin.shell;
  };
  return all.filter((process) => !process.zombie && process.pid !== origin.shell && judge(process));
}

/** Signals these processes, unless their id belongs to another one by now. */
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
    group: Number(fields[2]),
    session: Number(fields[3]),
    start: Number(fields[19]),
  };
}

/** Undefined when it is not set, or the environment is not readable. */
function variableOf(pid: number, name: string): string | undefined {
  const start = `${name}=`;
  return readText(`/proc/${pid}/environ`)
    ?.split('\0')
    .find((entry) => entry.startsWith(start))
    ?.slice(start.length);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
