import { create } from 'zustand';
import { useDock } from './dock-store';

/** Where a link of one panel leads in another. `serial` tells two visits of one place apart. */
interface Places {
  serial: number;
  terminal: { name: string; offset: number | null } | null;
  file: { path: string; line: number } | null;
  step: { commit: string; parent: string | null } | null;
  /** Text for the message box, such as a comment on a hunk. */
  say: string | null;
}

export const usePlaces = create<Places>()(() => ({
  serial: 0,
  terminal: null,
  file: null,
  step: null,
  say: null,
}));

const go = (place: Partial<Places>) =>
  usePlaces.setState(({ serial }) => ({ ...place, serial: serial + 1 }));

export function showTerminal(name: string, offset: number | null = null): void {
  useDock.getState().show('terminal');
  go({ terminal: { name, offset } });
}

export function showFile(path: string, line = 1): void {
  useDock.getState().show('code');
  go({ file: { path, line } });
}

export function showStep(commit: string, parent: string | null): void {
  useDock.getState().show('changes');
  go({ step: { commit, parent } });
}
