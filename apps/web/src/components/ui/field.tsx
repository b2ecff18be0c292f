import type {
  ComponentProps,
  ReactNode,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from 'react';
import { clsx } from 'clsx';

const inputLook = 'rounded-md border border-line-strong bg-panel px-2 text-sm disabled:opacity-50';

/** A field fills its place unless it is given a size. */
const sized = (given = ''): string =>
  clsx(!/(^|\s)w-/.test(given) && 'w-full', !/(^|\s)h-/.test(given) && 'h-8', given);

/** A label over its field, with a line that explains it. */
export function Field({
  label,
  hint,
  children,
  className,
}: {
  label: string;
  hint?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <label className={clsx('block min-w-0', className)}>
      <span className="mb-1 block text-sm font-medium">{label}</span>
      {children}
      {hint && <span className="mt-1 block text-xs text-faint">{hint}</span>}
    </label>
  );
}

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={clsx(inputLook, sized(className))} {...rest} />;
}

export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select className={clsx(inputLook, sized(className))} {...rest} />;
}

/** Grows with its text. */
export function TextArea({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <textarea
      className={clsx(
        'field-sizing-content block max-h-[40vh] min-h-16 w-full rounded-md border border-line-strong bg-panel px-2 py-1.5 text-sm',
        className,
      )}
      {...rest}
    />
  );
}
