/** How a container ended. */
export interface Exit {
  code: number;
  outOfMemory: boolean;
  error: string;
  /** Its limit. */
  memoryMb: number;
}

export interface ExitReasonOptions {
  /** What its first program has printed last. */
  lastLine: string;
  /** The user’s name of its memory setting. */
  setting: string;
}

/** Why a container does not run, for the user; null for one of programs, whose limits and output are not ours. */
export function exitReason(exit: Exit | undefined, sandbox: ExitReasonOptions | null): string {
  const what = sandbox ? 'The sandbox' : 'The container';
  if (!exit) return sandbox ? 'The sandbox’s container was removed.' : 'The container was removed.';
  if (exit.outOfMemory) {
    const remedy = sandbox ? `; increase ${sandbox.setting}` : '';
    return `${what} ran out of its ${exit.memoryMb} MB of memory and was killed${remedy}.`;
  }
  if (exit.error) return `${what} could not run: ${exit.error.trim()}.`;
  if (exit.code === 137) return `${what} was killed (SIGKILL).`;
  if (exit.code === 143) return `${what} was stopped from outside (SIGTERM).`;
  const who = sandbox ? 'The agent' : 'Its starter';
  const printed = sandbox?.lastLine ? ` Its last line: ${sandbox.lastLine}` : '';
  return `${who} ended unexpectedly with exit code ${exit.code}.${printed}`;
}
