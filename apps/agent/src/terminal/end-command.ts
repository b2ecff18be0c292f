import type { Changes } from './changes.js';
import type { Command } from './command.js';
import { endProcesses } from './end-processes.js';
import { processesOf } from './process-tree.js';

/** How long a command may go on after it was asked to end, in ms. */
const grace = 2_000;
/** How long the shell itself may take to come back once its command is dead, in ms. */
const shellPatience = 2_000;
const between = 100;

export interface ShellOfCommand {
  pid: number;
  changes: Changes;
  /** Whether the shell waits for the command, or runs it itself. */
  busy(): boolean;
  kill(signal: NodeJS.Signals): void;
}

/** Ends a command with all it started. The shell survives if it can; it is killed when it does not come back. */
export async function endCommand(
  command: Command,
  cause: 'timeout' | 'kill',
  shell: ShellOfCommand,
): Promise<void> {
  command.cause ??= cause;
  const find = () => processesOf(command.origin(shell.pid));
  // A loop of the shell itself would start the next program.
  if (shell.busy()) shell.kill('SIGINT');
  await endProcesses(find, cause === 'timeout' ? grace : 0);
  const until = Date.now() + shellPatience;
  while (shell.busy() && Date.now() < until) {
    shell.kill('SIGINT');
    await shell.changes.until(() => !shell.busy(), between);
    await endProcesses(find, 0);
  }
  if (shell.busy()) shell.kill('SIGKILL');
}
