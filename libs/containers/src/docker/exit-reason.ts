/** How a container ended. */
export interface Exit {
  code: number;
  outOfMemory: boolean;
  error: string;
  /** Its limit. */
  memoryMb: number;
}

/** Why a sandbox does not run, for the user. `setting` is the user’s name of its memory setting. */
export function exitReason(
  exit: Exit | undefined,
  { lastLine, setting }: { lastLine: string; setting: string },
): string {
  if (!exit) return 'The sandbox’s container was removed.';
  if (exit.outOfMemory)
    return `The sandbox ran out of its ${exit.memoryMb} MB of memory and was killed; increase ${setting}.`;
  if (exit.error) return `The sandbox could not run: ${exit.error.trim()}.`;
  if (exit.code === 137) return 'The sandbox was killed (SIGKILL).';
  if (exit.code === 143) return 'The sandbox was stopped from outside (SIGTERM).';
  const printed = lastLine ? ` Its last line: ${lastLine}` : '';
  return `The agent ended unexpectedly with exit code ${exit.code}.${printed}`;
}
