import { create } from 'zustand';
import { errorFrom } from '@belay/protocol';

interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'fail';
}

interface Toasts {
  toasts: Toast[];
  show(text: string, tone?: Toast['tone']): void;
  dismiss(id: number): void;
}

/** Only this many of the newest toasts are shown. */
const maxToasts = 3;
const plainToastMs = 5_000;

let next = 1;

export const useToasts = create<Toasts>()((set, get) => ({
  toasts: [],
  show(text, tone = 'plain') {
    const id = next++;
    set({ toasts: [...get().toasts, { id, text, tone }].slice(-maxToasts) });
    // Errors stay until the user dismisses them.
    if (tone === 'plain') setTimeout(() => get().dismiss(id), plainToastMs);
  },
  dismiss: (id) => set({ toasts: get().toasts.filter((toast) => toast.id !== id) }),
}));

export const toast = (text: string): void => useToasts.getState().show(text);

/** Shows an error. The server’s messages include what to do. */
export const toastError = (error: unknown): void =>
  useToasts.getState().show(errorFrom(error).message, 'fail');

/**
 * Runs an action of the user and shows `done` on success. A failure becomes a toast and is never
 * thrown.
 */
export function attempt(work: () => Promise<unknown>, done?: string): void {
  void attemptAndReport(work, done);
}

async function attemptAndReport(
  work: () => Promise<unknown>,
  done: string | undefined,
): Promise<void> {
  try {
    await work();
    if (done) toast(done);
  } catch (error) {
    toastError(error);
  }
}
