import { useState } from 'react';
import type { DiffedFile } from './diffed-files';

/** A file with more changed lines than this is initially folded. */
const foldedAbove = 600;

export interface Folds {
  /** Whether the user unfolded (true) or folded a file, by path. */
  chosen: ReadonlyMap<string, boolean>;
  /** Whether the user unfolded or folded all others; null if neither. */
  all: boolean | null;
}

/** Whether a file’s lines are shown. */
export const isOpen = ({ path, part, added, removed }: DiffedFile, { chosen, all }: Folds) =>
  chosen.get(path) ?? all ?? (part !== undefined && added + removed <= foldedAbove);

/** Which files are folded; another step begins anew. */
export function useFolds(step: string | null) {
  const [held, setHeld] = useState({ step, folds: unfolded });
  const folds = held.step === step ? held.folds : unfolded;
  const change = (to: (now: Folds) => Folds) =>
    setHeld((now) => ({ step, folds: to(now.step === step ? now.folds : unfolded) }));
  return {
    folds,
    fold: (path: string, open: boolean) =>
      change(({ chosen, all }) => ({ chosen: new Map(chosen).set(path, open), all })),
    foldAll: (open: boolean) => change(() => ({ chosen: new Map(), all: open })),
  };
}

const unfolded: Folds = { chosen: new Map(), all: null };
