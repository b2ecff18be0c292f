import { X } from 'lucide-react';
import { clsx } from 'clsx';
import { useToasts, type Toast } from '@/lib/toasts';
import { VisibleText } from './visible-text';

/**
 * Shows toasts in the corner that has neither titles nor states nor tabs; in a session on a phone,
 * where the bottom has the message box, below the header and the settings. They let clicks through,
 * except for their buttons.
 */
export function Toasts() {
  const { toasts, dismiss } = useToasts();
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed right-3 bottom-14 z-50 flex w-100 max-w-[calc(100vw-24px)] flex-col gap-1 max-sm:bottom-[calc(68px+env(safe-area-inset-bottom))] max-md:[body:not(:has(.page-bar))_&]:top-22 max-md:[body:not(:has(.page-bar))_&]:bottom-auto"
    >
      {toasts.map((toast) => (
        <ToastLine key={toast.id} toast={toast} onDismiss={() => dismiss(toast.id)} />
      ))}
    </div>
  );
}

function ToastLine({ toast, onDismiss }: { toast: Toast; onDismiss(): void }) {
  const { text, tone, action } = toast;
  const isError = tone === 'fail';
  return (
    <div
      role={isError ? 'alert' : 'status'}
      className={clsx(
        'flex min-h-8 items-center gap-2 rounded-md border bg-panel px-3 py-1 text-sm leading-4',
        isError ? 'border-fail' : 'border-line-strong',
      )}
    >
      <span className="min-w-0 flex-1 break-words">
        <VisibleText text={text} />
      </span>
      {action && (
        <button
          type="button"
          onClick={() => {
            onDismiss();
            action.run();
          }}
          className="pointer-events-auto rounded-sm px-1 font-medium underline hover:bg-hover"
        >
          {action.label}
        </button>
      )}
      {isError && (
        <button
          type="button"
          aria-label="Dismiss"
          onClick={onDismiss}
          className="pointer-events-auto rounded-sm p-0.5 hover:bg-hover"
        >
          <X size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}
