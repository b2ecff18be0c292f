import type { Changes } from './changes.js';
import type { ShellCommand } from './shell-command.js';
import { endProcesses } from './end-processes.js';
import { processesFrom } from './process-tree.js';

/** How long a command may run after SIGTERM. */
const termTimeoutMs = 2_000;
/** How long the shell itself may take to be ready again once its command is dead. */
const shellTimeoutMs = 2_000;
const retryDelayMs = 100;

export interface ShellOfCommand {
  pid: number;
  changes: Changes;
  /** Whether the shell waits for the command, or runs it itself. */
  busy(): boolean;
  kill(signal: NodeJS.Signals): void;
}

/** Ends a command with all it started. The shell survives if it can; it is killed when it does not become ready. */
export async function endCommand(
  command: ShellCommand,
  cause: 'timeout' | 'kill',
  shell: ShellOfCommand,
): Promise<void> {
  command.cause ??= cause;
  const find = () => processesFrom(command.origin(shell.pid));
  // A loop of the shell itself would start the next program.
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
  // What the shell itself still started.
  await endProcesses(find, 0);
}
