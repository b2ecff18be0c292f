import type { ReactNode } from 'react';

/** The text of an empty panel: what it will show, and how to create that. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex h-full min-h-24 flex-col items-center justify-center gap-1 p-6 text-center">
      <p className="font-medium text-muted">{title}</p>
      {children && <div className="max-w-sm text-sm text-faint">{children}</div>}
    </div>
  );
}

/** Appears after a short delay, so that it does not flash during fast loads. */
export function Loading({ what }: { what: string }) {
  return (
    <div
      role="status"
      className="flex h-full min-h-24 animate-[appear_100ms_200ms_both] items-center justify-center text-sm text-faint"
    >
      Loading {what}…
    </div>
  );
}

export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div role="alert" className="m-3 rounded-md border border-line bg-fail-soft p-3 text-sm">
      <p>{message}</p>
      {retry && (
        <button type="button" onClick={retry} className="mt-1 font-medium underline">
          Try again
        </button>
      )}
    </div>
  );
}
