import type { ReactNode } from 'react';

/** The text of an empty panel: its future content, and how to create it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex h-full min-h-24 flex-col items-center justify-center gap-1 p-6 text-center">
      <p className="font-medium text-muted">{title}</p>
      {children && <div className="max-w-sm text-sm text-faint">{children}</div>}
    </div>
  );
}

/** Shows itself only when the wait is long enough to be seen. */
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
