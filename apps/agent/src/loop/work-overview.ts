import type { Conversation } from './conversation.js';
import { listed } from './listed.js';
import type { RunningCommand } from './shells.js';

/** What the log knows about the work so far, beside a summary; empty if there is nothing. */
export function workOverview({
  work: { changed },
  files,
  running,
}: Pick<Conversation, 'work' | 'files' | 'running'>): string {
  const read = [...files.files.keys()].filter((path) => !changed.includes(path));
  return [
    changed.length > 0 && `Files that you changed: ${listed(changed)}`,
    read.length > 0 && `Other files that you read: ${listed(read)}`,
    running.length > 0 && `Still running: ${running.map(runningText).join('; ')}`,
    files.files.size > 0 && 'Read a file again before you edit it: its text is no longer above.',
  ]
    .filter(Boolean)
    .join('\n');
}

/** A running command, with its place. */
export const runningText = ({ command, terminal, directory }: RunningCommand): string =>
  `\`${listed([command])}\` (terminal ${terminal}, in ${directory})`;
