import { create } from 'zustand';
import { errorFrom, type ErrorCode } from '@belay/protocol';

export interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'fail';
  /** Milliseconds since the epoch. */
  time: number;
  /** Of an error that has one. */
  code?: ErrorCode | undefined;
  action?: { label: string; run(): void } | undefined;
}

type ToastOptions = Partial<Pick<Toast, 'tone' | 'code' | 'action'>>;

interface Toasts {
  /** Those on the screen, the newest last. */
  toasts: Toast[];
  /** Those of this visit that ended, too, the newest first. */
  past: Toast[];
  show(text: string, options?: ToastOptions): void;
  dismiss(id: number): void;
}

/** Only this many of the newest toasts are shown. */
const maxToasts = 3;
const maxPast = 50;
const plainToastMs = 5_000;
/** Long enough to read and act on; afterwards, the list of notices has it. */
const errorToastMs = 20_000;

let next = 1;

export const useToasts = create<Toasts>()((set, get) => ({
  toasts: [],
  past: [],
  show(text, { tone = 'plain', code, action } = {}) {
    const toast = { id: next++, text, tone, time: Date.now(), code, action };
    const { toasts, past } = get();
    set({
      toasts: [...toasts, toast].slice(-maxToasts),
      past: [toast, ...past].slice(0, maxPast),
    });
    setTimeout(() => get().dismiss(toast.id), tone === 'plain' ? plainToastMs : errorToastMs);
  },
  dismiss: (id) => set({ toasts: get().toasts.filter((toast) => toast.id !== id) }),
}));

export const toast = (text: string, action?: Toast['action']): void =>
  useToasts.getState().show(text, { action });

/** Shows an error. The server’s messages include what to do. */
export function toastError(error: unknown): void {
  const { message, code } = errorFrom(error);
  useToasts.getState().show(message, { tone: 'fail', code });
}

/** Ends the errors on the screen that are over: those of a code, or all. */
export const endErrors = (code?: ErrorCode): void =>
  useToasts.setState(({ toasts }) => ({
    toasts: toasts.filter((toast) => toast.tone !== 'fail' || (code && toast.code !== code)),
  }));

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
