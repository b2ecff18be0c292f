/**
 * A recording is a single file and cannot start a worker, so its diffs have no syntax highlighting.
 */
export const startHighlighter = (): Worker | null => null;
