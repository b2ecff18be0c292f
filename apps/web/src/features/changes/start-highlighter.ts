/** The worker that finds the colours of code; null where there are no workers. */
export const startHighlighter = (): Worker | null =>
  typeof Worker === 'undefined'
    ? null
    : new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' });
