import { create } from 'zustand';
import type { PreviewSize } from './preview-frame';

interface PreviewChoice {
  side: 'agent' | 'preview';
  /** Null until one is chosen, which means the first open port. */
  port: number | null;
  path: string;
  size: PreviewSize;
}

const first: PreviewChoice = { side: 'agent', port: null, path: '/', size: 'panel' };

/** By session, until the dashboard is closed or reloaded. */
const useChoices = create<Record<string, PreviewChoice>>()(() => ({}));

/** What the browser panel of a session shows, which is kept when the panel is moved or hidden. */
export function usePreviewChoice(
  session: string,
): [PreviewChoice, (change: Partial<PreviewChoice>) => void] {
  const choice = useChoices((choices) => choices[session]) ?? first;
  return [choice, (change) => useChoices.setState({ [session]: { ...choice, ...change } })];
}
