import { X } from 'lucide-react';
import { clsx } from 'clsx';
import { useToasts } from '@/lib/toasts';
import { useToastArea } from './toast-area';
import { VisibleText } from './visible-text';

/**
 * Shows toasts over the `ToastArea` of the page’s header, or below the header if there is none.
 * They let clicks through, except for the button that dismisses an error.
 */
export function Toasts() {
  const { toasts, dismiss } = useToasts();
  const area = useToastArea((state) => state.area);
  return (
    <div
      aria-live="polite"
      style={area ?? undefined}
      className={clsx(
        'pointer-events-none fixed z-50 flex flex-col gap-1',
        area ? 'top-1' : 'top-13 left-1/2 w-100 max-w-[calc(100vw-32px)] -translate-x-1/2',
      )}
    >
      {toasts.map((toast) => (
        <div
          key={toast.id}
          role={toast.tone === 'fail' ? 'alert' : 'status'}
          className={clsx(
            'flex min-h-8 items-center gap-2 rounded-md border bg-panel px-3 py-1 text-sm leading-4',
            toast.tone === 'fail' ? 'border-fail' : 'border-line-strong',
          )}
        >
          <span className="min-w-0 flex-1 break-words">
            <VisibleText text={toast.text} />
          </span>
          {toast.tone === 'fail' && (
            <button
              type="button"
              aria-label="Dismiss"
              onClick={() => dismiss(toast.id)}
              className="pointer-events-auto rounded-sm p-0.5 hover:bg-hover"
            >
              <X size={14} aria-hidden />
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
