import { X } from 'lucide-react';
import { cx } from '@/lib/classes';
import { useToasts } from '@/lib/toasts';

export function Toasts() {
  const { toasts, dismiss } = useToasts();
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed top-14 right-4 z-50 flex w-80 max-w-[calc(100vw-32px)] flex-col gap-2"
    >
      {toasts.map((toast) => (
        <div
          key={toast.id}
          role={toast.tone === 'fail' ? 'alert' : 'status'}
          className={cx(
            'flex items-start gap-2 rounded-md border bg-panel p-3 text-sm',
            // Good news goes by itself and is never in the way of a press.
            toast.tone === 'fail' ? 'pointer-events-auto border-fail' : 'border-line-strong',
          )}
        >
          <span className="flex-1">{toast.text}</span>
          {toast.tone === 'fail' && (
            <button type="button" aria-label="Dismiss" onClick={() => dismiss(toast.id)}>
              <X size={14} aria-hidden />
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
