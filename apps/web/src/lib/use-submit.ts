import { useState, type FormEvent } from 'react';
import { toastError } from '@/lib/toasts';

interface Submitting {
  /** While a request is under way, and after one that succeeded: the form is done then. */
  saving: boolean;
  onSubmit(event: FormEvent): void;
}

/** A form’s way to the server. It can be submitted again after an error, which is shown, or when `save` says `again`. */
export function useSubmit(save: () => Promise<'again' | void>): Submitting {
  const [saving, setSaving] = useState(false);
  const submit = async () => {
    setSaving(true);
    try {
      if ((await save()) === 'again') setSaving(false);
    } catch (error) {
      toastError(error);
      setSaving(false);
    }
  };
  return {
    saving,
    onSubmit: (event) => {
      event.preventDefault();
      void submit();
    },
  };
}
