/** Starts the worker that highlights code; null where workers are not available. */
export const startHighlighter = (): Worker | null =>
  typeof Worker === 'undefined'
    ? null
    : new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' });
