import { useState } from 'react';
import { create } from 'zustand';
import { useDock } from './dock-store';

/** `serial` tells two visits of one place apart. */
type Place<T> = (T & { serial: number }) | null;

/** Where a link of one panel leads in another. */
interface Places {
  serial: number;
  terminal: Place<{ name: string; offset: number | null }>;
  file: Place<{ path: string; line: number }>;
  step: Place<{ commit: string; parent: string | null }>;
}

export const usePlaces = create<Places>()(() => ({
  serial: 0,
  terminal: null,
  file: null,
  step: null,
}));

const next = (): number => usePlaces.getState().serial + 1;

export function showTerminal(name: string, offset: number | null = null): void {
  useDock.getState().show('terminal');
  const serial = next();
  usePlaces.setState({ serial, terminal: { name, offset, serial } });
}

export function showFile(path: string, line = 1): void {
  useDock.getState().show('code');
  const serial = next();
  usePlaces.setState({ serial, file: { path, line, serial } });
}

export function showStep(commit: string, parent: string | null): void {
  useDock.getState().show('changes');
  const serial = next();
  usePlaces.setState({ serial, step: { commit, parent, serial } });
}

/** What was chosen last: by a person in the panel, or by a link to a place. */
export function useChosen<T, P extends { serial: number }>(
  place: P | null,
  valueOf: (place: P) => T,
  first: T,
): [T, (value: T) => void] {
  const [chosen, setChosen] = useState({ value: first, serial: 0 });
  const value = place && place.serial > chosen.serial ? valueOf(place) : chosen.value;
  return [value, (next) => setChosen({ value: next, serial: usePlaces.getState().serial })];
}
