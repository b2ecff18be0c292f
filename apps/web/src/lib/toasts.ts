import { create } from 'zustand';
import { errorFrom } from '@belay/protocol';

export interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'fail';
}

interface Toasts {
  toasts: Toast[];
  show(text: string, tone?: Toast['tone']): void;
  dismiss(id: number): void;
}

let next = 1;

export const useToasts = create<Toasts>()((set, get) => ({
  toasts: [],
  show(text, tone = 'plain') {
    const id = next++;
    set({ toasts: [...get().toasts.slice(-2), { id, text, tone }] });
    setTimeout(() => get().dismiss(id), tone === 'fail' ? 12_000 : 5_000);
  },
  dismiss: (id) => set({ toasts: get().toasts.filter((toast) => toast.id !== id) }),
}));

export const say = (text: string): void => useToasts.getState().show(text);

/** Tells the person what failed. The server's errors say what to do. */
export const sayError = (error: unknown): void =>
  useToasts.getState().show(errorFrom(error).message, 'fail');

/** Runs what a person asked for; a failure is told, never thrown. */
export function attempt(work: () => Promise<unknown>, done?: string): void {
  void tell(work, done);
}

async function tell(work: () => Promise<unknown>, done: string | undefined): Promise<void> {
  try {
    await work();
    if (done) say(done);
  } catch (error) {
    sayError(error);
  }
}
