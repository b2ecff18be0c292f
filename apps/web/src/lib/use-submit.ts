import { useState, type FormEvent } from 'react';
import { toastError } from '@/lib/toasts';

/** Undefined if the form is done; otherwise it can be submitted again, and may show a warning. */
export type Submitted =
  | void
  | 'again'
  | {
      warning: string;
      /** Another way to submit in spite of the warning. */
      anyway?: { label: string; submit(): Promise<Submitted> };
    };
type Warning = Exclude<Submitted, void | 'again'>;

interface Submitting {
  /** True during a request, and after success, when the form is done. */
  saving: boolean;
  warning: Warning | undefined;
  onSubmit(event: FormEvent): void;
  /** Submits in the way of the warning. */
  submitAnyway(): void;
}

/** Submits a form to the server. An error becomes a toast, and the form can be submitted again. */
export function useSubmit(save: () => Promise<Submitted>): Submitting {
  const [saving, setSaving] = useState(false);
  const [warning, setWarning] = useState<Warning>();
  const submit = async (send: () => Promise<Submitted>) => {
    setSaving(true);
    setWarning(undefined);
    try {
      const outcome = await send();
      if (!outcome) return;
      if (outcome !== 'again') setWarning(outcome);
    } catch (error) {
      toastError(error);
    }
    setSaving(false);
  };
  return {
    saving,
    warning,
    onSubmit: (event) => {
      event.preventDefault();
      void submit(save);
    },
    submitAnyway: () => warning?.anyway && void submit(warning.anyway.submit),
  };
}
