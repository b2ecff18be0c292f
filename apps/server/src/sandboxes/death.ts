import type { Exit } from './docker.client.js';

/** Why a sandbox is gone, for a person. */
export function causeOfDeath(
  exit: Exit | undefined,
  { lastLine, memoryMb }: { lastLine: string; memoryMb: number },
): string {
  const next = 'Its files are kept.';
  if (!exit) return `The sandbox’s container was removed. ${next}`;
  if (exit.outOfMemory) {
    return `The sandbox ran out of its ${memoryMb} MB of memory and was killed; a larger BELAY_MEMORY_MB helps. ${next}`;
  }
  if (exit.error) return `The sandbox could not run: ${exit.error.trim()}. ${next}`;
  if (exit.code === 137) return `The sandbox was killed (SIGKILL). ${next}`;
  if (exit.code === 143) return `The sandbox was ended from outside (SIGTERM). ${next}`;
  const said = lastLine ? ` Its last words: ${lastLine}` : '';
  return `The agent ended unexpectedly with exit code ${exit.code}.${said} ${next}`;
}
