import { useState, type FormEvent } from 'react';
import { toastError } from '@/lib/toasts';

/** Nothing when the form is done; otherwise it can be submitted again, and may show a warning. */
export type Submitted = void | 'again' | { warning: string };

interface Submitting {
  /** While a request is under way, and after one that succeeded: the form is done then. */
  saving: boolean;
  warning: string | undefined;
  onSubmit(event: FormEvent): void;
}

/** Sends a form to the server. It can be submitted again after an error, which is shown. */
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
