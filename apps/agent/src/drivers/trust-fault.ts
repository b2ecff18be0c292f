import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, type AgentProgram } from '@belay/protocol';

/**
 * Why a program must not start in a workspace that the user does not trust: `unavailable` with what to do, or undefined.
 * A link counts as what it names, wherever it leads.
 */
export function trustFault(
  { title, ignoresDistrust }: Pick<AgentProgram, 'title' | 'ignoresDistrust'>,
  { trusted, workspace }: { trusted: boolean; workspace: string },
): AppError | undefined {
  if (trusted) return undefined;
  const used = ignoresDistrust.filter((path) =>
    lstatSync(join(workspace, path), { throwIfNoEntry: false }),
  );
  if (used.length === 0) return undefined;
  return new AppError(
    'unavailable',
    `${title} would use ${used.join(', ')} of the project before you trust it, so it did not start. Review and trust the project’s files, or remove these, and then send a message.`,
  );
}
