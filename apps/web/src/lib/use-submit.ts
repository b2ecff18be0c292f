import { useState, type FormEvent } from 'react';
import { toastError } from '@/lib/toasts';

/** Undefined if the form is done; otherwise it can be submitted again, and may show a warning. */
export type Submitted = void | 'again' | { warning: string };

interface Submitting {
  /** True during a request, and after success, when the form is done. */
  saving: boolean;
  warning: string | undefined;
  onSubmit(event: FormEvent): void;
}

/** Submits a form to the server. An error becomes a toast, and the form can be submitted again. */
export function useSubmit(save: () => Promise<Submitted>): Submitting {
  const [saving, setSaving] = useState(false);
  const [warning, setWarning] = useState<string>();
  const submit = async () => {
    setSaving(true);
    setWarning(undefined);
    try {
      const outcome = await save();
      if (!outcome) return;
      if (outcome !== 'again') setWarning(outcome.warning);
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
      void submit();
    },
  };
}
