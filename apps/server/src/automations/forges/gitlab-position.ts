import type { z } from 'zod';
import type { NewLineComment } from './forge.js';
import type { gitlabDiff, GitlabDiffRefs } from './gitlab-shapes.js';

export interface GitlabPosition extends GitlabDiffRefs {
  position_type: 'text';
  old_path: string;
  new_path: string;
  old_line?: number;
  new_line?: number;
}

/**
 * Where GitLab expects a comment on a line: added lines by their new number, removed ones by their old number, and
 * unchanged ones by both. A line that the change does not have is sent as it is, for GitLab to refuse.
 */
export function gitlabPosition(
  { path, line, side }: Pick<NewLineComment, 'path' | 'line' | 'side'>,
  refs: GitlabDiffRefs,
  diffs: readonly z.output<typeof gitlabDiff>[],
): GitlabPosition {
  const diff = diffs.find((one) => (side === 'new' ? one.new_path : one.old_path) === path);
  const found = diff && unchangedLine(diff.diff, side, line);
  const own = side === 'new' ? { new_line: line } : { old_line: line };
  return {
    ...refs,
    position_type: 'text',
    old_path: diff?.old_path ?? path,
    new_path: diff?.new_path ?? path,
    ...(found ? { old_line: found.old, new_line: found.new } : own),
  };
}

/** The same for a comment on the same line with the same text. */
export function threadKey(
  at: {
    new_path: string;
    new_line?: number | null | undefined;
    old_line?: number | null | undefined;
  },
  body: string,
): string {
  return JSON.stringify([at.new_path, at.new_line ?? null, at.old_line ?? null, body.trim()]);
}

/** Both numbers of a line; undefined if it was added or removed, or is not shown. */
function unchangedLine(
  diff: string,
  side: NewLineComment['side'],
  line: number,
): { old: number; new: number } | undefined {
  const at = { old: 0, new: 0 };
  for (const text of diff.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (hunk) {
      at.old = Number(hunk[1]);
      at.new = Number(hunk[2]);
      continue;
    }
    const isOld = text.startsWith('-');
    const isNew = text.startsWith('+');
    if (!isOld && !isNew && !text.startsWith(' ')) continue;
    if (!isOld && !isNew && at[side] === line) return { ...at };
    if (!isNew) at.old += 1;
    if (!isOld) at.new += 1;
  }
  return undefined;
}
