import type { ReactNode } from 'react';
import { clsx } from 'clsx';
import { useSubmit, type Submitted } from '@/lib/use-submit';
import { Button } from './button';

interface FormProps {
  label?: string;
  className?: string;
  /** The label of the submit button. */
  submit: string;
  /** The label while the form is submitted. Default: `submit`. */
  submitting?: string;
  disabled?: boolean;
  onSubmit(): Promise<Submitted>;
  onCancel?(): void;
  /** Content beside the buttons. */
  aside?: ReactNode;
  children: ReactNode;
}

/**
 * Fields with buttons to submit and cancel. The browser validates the fields and focuses the first
 * invalid one.
 */
export function Form({
  label,
  className,
  submit,
  submitting = submit,
  disabled = false,
  onSubmit: save,
  onCancel,
  aside,
  children,
}: FormProps) {
  const { saving, warning, onSubmit, submitAnyway } = useSubmit(save);
  return (
    <form aria-label={label} className={clsx('space-y-3', className)} onSubmit={onSubmit}>
      {children}
      {warning && (
        <p role="alert" className="rounded-md bg-fail-soft px-3 py-2 text-sm">
          {warning.warning}
        </p>
      )}
      <div className="flex items-center gap-2">
        <Button type="submit" look="solid" disabled={saving || disabled}>
          {saving ? submitting : submit}
        </Button>
        {warning?.anyway && (
          <Button onClick={submitAnyway} disabled={saving}>
            {warning.anyway.label}
          </Button>
        )}
        {onCancel && (
          <Button look="ghost" onClick={onCancel}>
            {warning ? 'Close' : 'Cancel'}
          </Button>
        )}
        {aside}
      </div>
    </form>
  );
}
