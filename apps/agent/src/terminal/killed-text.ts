import type { MemoryKills } from '../memory-kills.js';

/** What a shell reports for a program that SIGKILL ended. */
const sigkill = 128 + 9;

/**
 * Why a command was killed, if nobody here did; undefined if it was not. Memory is named only if the kernel’s counter
 * rose while the command ran: another command may have been the reason, so the sentence blames none for a command that
 * ended otherwise.
 */
export function killedText(
  exitCode: number,
  kills: MemoryKills,
  before: number | null,
): string | undefined {
  const now = kills.count();
  if (before === null || now === null || now <= before)
    return exitCode === sigkill ? 'killed by signal 9' : undefined;
  const limit = kills.limitMiB();
  const memory = limit === null ? 'the memory limit' : `the memory limit of ${limit} MiB`;
  return exitCode === sigkill
    ? `killed: ${memory}`
    : `the kernel killed a process while this ran: ${memory}`;
}
