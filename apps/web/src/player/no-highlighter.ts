/** A recording is one file, which cannot start a worker: its changes have no colours of code. */
export const startHighlighter = (): Worker | null => null;
