const form = /^\/belay[ \t]+([a-z][a-z-]{1,30})(?=[ \t\r]|$)/;

/**
 * The word of a command: `fix` of `/belay fix the flaky test`. Only the first line of a comment counts, from its first
 * character on, so that what is quoted, fenced, indented or has hidden characters in it is never one.
 */
export function commandOf(comment: string): string | undefined {
  const [first = ''] = comment.split('\n', 1);
  return form.exec(first)?.[1];
}
