import { useState } from 'react';
import { create } from 'zustand';
import type { PanelId } from '@/lib/panels';

/** `serial` distinguishes repeated visits to the same target. */
type LinkTarget<T> = (T & { serial: number }) | null;

/** The targets of links from one panel to another. */
interface PanelLinks {
  serial: number;
  terminal: LinkTarget<{ name: string; offset: number | null }>;
  file: LinkTarget<{ path: string; line: number }>;
  commit: LinkTarget<{ commit: string; parent: string | null }>;
}

export const usePanelLinks = create<PanelLinks>()(() => ({
  serial: 0,
  terminal: null,
  file: null,
  commit: null,
}));

const listeners = new Set<(panel: PanelId) => void>();

/** Calls `listener` when a link opens a panel, so that the layout can show it. */
export function onPanelRequest(listener: (panel: PanelId) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const showTerminal = (name: string, offset: number | null = null): void =>
  follow('terminal', (serial) => ({ terminal: { name, offset, serial } }));

export const showFile = (path: string, line = 1): void =>
  follow('code', (serial) => ({ file: { path, line, serial } }));

export const showCommit = (commit: string, parent: string | null): void =>
  follow('changes', (serial) => ({ commit: { commit, parent, serial } }));

function follow(panel: PanelId, targetOf: (serial: number) => Partial<PanelLinks>): void {
  for (const listener of listeners) listener(panel);
  const serial = usePanelLinks.getState().serial + 1;
  usePanelLinks.setState({ serial, ...targetOf(serial) });
}

/** State of a panel that is set by the user or by a link to the panel, whichever is later. */
export function useChosen<T, P extends { serial: number }>(
  target: P | null,
  valueOf: (target: P) => T,
  first: T,
): [T, (value: T) => void] {
  const [chosen, setChosen] = useState({ value: first, serial: 0 });
  const value = target && target.serial > chosen.serial ? valueOf(target) : chosen.value;
  return [value, (next) => setChosen({ value: next, serial: usePanelLinks.getState().serial })];
}
