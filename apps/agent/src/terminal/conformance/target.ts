import { equal } from 'node:assert/strict';
import type { terminalOperations } from '@belay/protocol';
import { until } from '@belay/testing';
import type { z } from 'zod';

type Operations = typeof terminalOperations;
type Input<N extends keyof Operations> = z.input<Operations[N]['input']>;
type Output<N extends keyof Operations> = z.output<Operations[N]['output']>;

export type ConformanceResult = Output<'terminal.run'>;

/** Whatever runs commands: terminals in this process, or a sandbox behind the whole platform. */
export interface ConformanceTarget {
  run(command: string, more?: Omit<Input<'terminal.run'>, 'command'>): Promise<ConformanceResult>;
  input(input: Input<'terminal.input'>): Promise<ConformanceResult>;
  read(input?: Input<'terminal.read'>): Promise<ConformanceResult>;
  interrupt(input?: Input<'terminal.interrupt'>): Promise<ConformanceResult>;
  close(terminal: string): Promise<unknown>;
  list(): Promise<Output<'terminal.list'>['terminals']>;
  resize(terminal: string, columns: number, rows: number): Promise<void>;
  /** Paths are relative to the workspace, in which new shells begin. */
  writeFile(path: string, bytes: Uint8Array): Promise<void>;
  readFile(path: string): Promise<Uint8Array>;
  /** All that a terminal printed, as stored. */
  printed(terminal: string): Promise<Uint8Array>;
  /** How many events the log has so far. */
  countEvents(): Promise<number>;
}

/** For a command that ends by itself: how long that may take on a busy machine, in seconds. */
export const caseWaitSeconds = 600;

/** Programs that not every image has. */
export type Need = 'bash' | 'less' | 'vi' | 'top' | 'python3' | 'git';

export interface ConformanceCase {
  name: string;
  /** The case does not apply to an image without these. */
  needs?: Need[];
  /** Others show most of what the case shows: it is left to the long tests. */
  isLong?: true;
  /** One image shows it for all: not its programs do what the case tests, but the kernel, the agent and the server. */
  isForOneImage?: true;
  /** Rejects when the target does not conform. */
  run(target: ConformanceTarget): Promise<void>;
}

/** Which of these processes live; those that only wait to be buried do not. */
export async function living(target: ConformanceTarget, pids: number[]): Promise<number[]> {
  const list = pids.join(' ');
  const { text } = await target.run(
    `for p in ${list}; do grep -qs '^State:[[:space:]]*[ZX]' /proc/$p/status || { [ -d /proc/$p ] && echo $p; }; done; :`,
    { terminal: 'inspector' },
  );
  return text.split(/\s+/).filter(Boolean).map(Number);
}

/** Runs a command until it has printed a text: what follows meets it at work, on a busy machine as well. */
export async function runUntil(
  target: ConformanceTarget,
  command: string,
  text: string,
): Promise<ConformanceResult> {
  const result = await target.run(command, { until: { text }, wait: caseWaitSeconds });
  equal(result.happened, 'text', result.text);
  return result;
}

/** The result at the end of a program: an input returns as soon as nothing is printed for a moment. */
export async function toEnd(
  target: ConformanceTarget,
  first: ConformanceResult,
): Promise<ConformanceResult> {
  if (first.status !== 'running') return first;
  const rest = await target.read({ wait: caseWaitSeconds });
  return { ...rest, text: first.text + rest.text };
}

/** The process ids that scripts wrote into a file, one per line. */
export async function pidsIn(target: ConformanceTarget, path: string): Promise<number[]> {
  const bytes = await target.readFile(path).catch(() => new Uint8Array());
  return new TextDecoder().decode(bytes).split('\n').filter(Boolean).map(Number);
}

/** The same, once there are so many: they are written when the processes have begun. */
export const pidsOf = (target: ConformanceTarget, path: string, count: number): Promise<number[]> =>
  until(`${count} processes in ${path}`, async () => {
    const pids = await pidsIn(target, path);
    return pids.length >= count && pids;
  });
