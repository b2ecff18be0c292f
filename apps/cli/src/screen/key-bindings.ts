import type { Key } from 'node:readline';

/** What keys do, by their names, with `ctrl+` before it where Ctrl matters. */
export type KeyBindings = Readonly<Record<string, () => unknown>>;

/** Runs what a key is bound to; false for a key that is not bound. */
export function runBinding(bindings: KeyBindings, { name = '', ctrl }: Key): boolean {
  const run = (ctrl && bindings[`ctrl+${name}`]) || bindings[name];
  run?.();
  return run !== undefined;
}
