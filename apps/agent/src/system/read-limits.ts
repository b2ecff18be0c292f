import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { join } from 'node:path';

/** The limits of the sandbox’s control group; the machine’s values if it has no limit. */
interface Limits {
  /** Processors; a group may be limited to a fraction. */
  cpus: number;
  memoryBytes: number;
  memoryUsedBytes: number;
}

/** Reads control groups of version 2 or 1. Never rejects: unreadable values count as unlimited. */
export async function readLimits(group = '/sys/fs/cgroup'): Promise<Limits> {
  const [cpus, memory] = await Promise.all([cpusOf(group), memoryOf(group)]);
  return { cpus, memoryBytes: memory.total, memoryUsedBytes: memory.used };
}

/** The size of a folder’s file system in bytes if it is in memory; null for one on disk. */
export async function memoryFolderBytes(folder: string): Promise<number | null> {
  const system = await statfs(folder).catch(() => null);
  return system?.type === tmpfs ? system.blocks * system.bsize : null;
}

const tmpfs = 0x01021994;

async function cpusOf(group: string): Promise<number> {
  const [quota, period] = (await figures(join(group, 'cpu.max'))) ?? [
    ...((await figures(join(group, 'cpu/cpu.cfs_quota_us'))) ?? []),
    ...((await figures(join(group, 'cpu/cpu.cfs_period_us'))) ?? []),
  ];
  const share =
    quota !== undefined && period !== undefined && quota > 0 ? quota / period : Infinity;
  // A CPU set is also a limit, and Node reads it.
  return Math.min(share, availableParallelism());
}

async function memoryOf(group: string): Promise<{ total: number; used: number }> {
  const [limit = Infinity] =
    (await figures(join(group, 'memory.max'))) ??
    (await figures(join(group, 'memory/memory.limit_in_bytes'))) ??
    [];
  if (limit >= totalmem()) return { total: totalmem(), used: totalmem() - freemem() };
  const [used = 0] =
    (await figures(join(group, 'memory.current'))) ??
    (await figures(join(group, 'memory/memory.usage_in_bytes'))) ??
    [];
  return { total: limit, used };
}

/** The numbers in a file’s line; undefined if the file does not exist or says `max`. */
async function figures(file: string): Promise<number[] | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^\d+( \d+)?\s*$/.test(text) ? text.trim().split(' ').map(Number) : undefined;
}
