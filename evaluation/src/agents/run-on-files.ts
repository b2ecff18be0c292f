import type { TaskContainer } from '@belay/containers';
import { Refused } from '../refused.js';

/** Git's own failures. */
const gitFatal = 128;
/**
 * From this code on, a shell and xargs report a program that a signal has ended, such as on a
 * machine without memory, or that the image does not have.
 */
const notRun = 125;
/** The exit code of a script for a failure of its own, for which the agent is not at fault. */
export const scriptFailed = 98;

const limitSeconds = 120;

interface FilesFailure {
  /** What the agent's files did not allow. */
  refused: string;
  /** What could not be done, whatever the files are. */
  failed: string;
}

/**
 * Runs a container that prepares the files of an agent, and nothing of the agent itself. A failure
 * must not be mistaken for an empty answer, nor the agent's for the machine's, which would give it
 * a second trial. Throws `Refused` if the files are the cause, otherwise an error.
 */
export async function runOnFiles(
  container: TaskContainer,
  signal: AbortSignal,
  { refused, failed }: FilesFailure,
): Promise<void> {
  const { exitCode, timedOut } = await container.run(limitSeconds, signal);
  if (exitCode === 0) return;
  const output = (await container.output()).trim().slice(-400);
  const isAgents = exitCode === gitFatal || (exitCode < notRun && exitCode !== scriptFailed);
  if (isAgents && !timedOut) throw new Refused(`${refused}: ${output}`);
  const why = timedOut ? `it took longer than ${limitSeconds} s` : `exit code ${exitCode}`;
  throw new Error(`${failed} (${why}): ${output}`);
}
