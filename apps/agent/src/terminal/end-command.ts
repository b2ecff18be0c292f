import type { Changes } from './changes.js';
import type { ShellCommand } from './shell-command.js';
import { endProcesses } from './end-processes.js';
import { processesFrom } from './process-tree.js';

/** The time between SIGTERM and SIGKILL for a command. */
const termTimeoutMs = 2_000;
/** How long the shell may take to be ready again after its command was killed. */
const shellTimeoutMs = 2_000;
const retryDelayMs = 100;

export interface ShellOfCommand {
  pid: number;
  changes: Changes;
  /** Whether the shell waits for the command, or runs it itself. */
  busy(): boolean;
  kill(signal: NodeJS.Signals): void;
}

/** Ends a command and everything it started. The shell is kept if it becomes ready again; otherwise it is killed. */
export async function endCommand(
  command: ShellCommand,
  cause: 'timeout' | 'kill',
  shell: ShellOfCommand,
): Promise<void> {
  command.cause ??= cause;
  const find = () => processesFrom(command.origin(shell.pid));
  // Otherwise a loop in the shell itself would start the next program.
  if (shell.busy()) shell.kill('SIGINT');
  await endProcesses(find, cause === 'timeout' ? termTimeoutMs : 0);
  const until = Date.now() + shellTimeoutMs;
  while (shell.busy() && Date.now() < until) {
    shell.kill('SIGINT');
    await shell.changes.until(() => !shell.busy(), retryDelayMs);
    await endProcesses(find, 0);
  }
  if (!shell.busy()) return;
  shell.kill('SIGKILL');
  // Processes that the shell itself started meanwhile.
  await endProcesses(find, 0);
}
