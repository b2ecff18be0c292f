/** How a container ended. */
export interface Exit {
  code: number;
  outOfMemory: boolean;
  error: string;
}

/** Why a sandbox has ended, for the user. `setting` is the user’s name of its memory setting. */
export function exitReason(
  exit: Exit | undefined,
  { lastLine, memoryMb, setting }: { lastLine: string; memoryMb: number; setting: string },
): string {
  const next = 'Its files are kept.';
  if (!exit) return `The sandbox’s container was removed. ${next}`;
  if (exit.outOfMemory) {
    return `The sandbox ran out of its ${memoryMb} MB of memory and was killed; increase ${setting}. ${next}`;
  }
  if (exit.error) return `The sandbox could not run: ${exit.error.trim()}. ${next}`;
  if (exit.code === 137) return `The sandbox was killed (SIGKILL). ${next}`;
  if (exit.code === 143) return `The sandbox was stopped from outside (SIGTERM). ${next}`;
  const printed = lastLine ? ` Its last line: ${lastLine}` : '';
  return `The agent ended unexpectedly with exit code ${exit.code}.${printed} ${next}`;
}
