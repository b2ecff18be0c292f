import type { Key } from 'node:readline';

/** The actions of keys by name, with the prefix `ctrl+` for Ctrl. */
export type KeyBindings = Readonly<Record<string, () => unknown>>;

/** Runs what a key is bound to; false for a key that is not bound. */
export function runBinding(bindings: KeyBindings, { name = '', ctrl }: Key): boolean {
  const run = (ctrl && bindings[`ctrl+${name}`]) || bindings[name];
  run?.();
  return run !== undefined;
}
