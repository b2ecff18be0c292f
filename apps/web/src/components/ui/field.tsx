import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes } from 'react';
import { cx } from '@/lib/classes';

const inputLook = 'rounded-md border border-line-strong bg-panel px-2 text-sm disabled:opacity-50';

/** A field fills its place unless it is given a size. */
const sized = (given = ''): string =>
  cx(!/(^|\s)w-/.test(given) && 'w-full', !/(^|\s)h-/.test(given) && 'h-8', given);

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
    <label className={cx('block min-w-0', className)}>
      <span className="mb-1 block text-sm font-medium">{label}</span>
      {children}
      {hint && <span className="mt-1 block text-xs text-faint">{hint}</span>}
    </label>
  );
}

export function Input({ className, ...rest }: InputHTMLAttributes<HTMLInputElement>) {
  return <input className={cx(inputLook, sized(className))} {...rest} />;
}

export function Select({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select className={cx(inputLook, sized(className))} {...rest} />;
}
