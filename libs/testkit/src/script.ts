import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Turn {
  reason?: string;
  say?: string;
  expect?: string;
  calls?: { operation: string; input: Record<string, unknown> }[];
  finish?: string | Record<string, unknown>;
}

let number = 0;

/**
 * Writes a script for the scripted model into a folder, as JSON, which is also YAML; returns the
 * model’s name. `pace` is the delay between streamed pieces of `say`, in milliseconds.
 */
export function script(folder: string, turns: Turn[], pace?: number): string {
  const file = join(folder, `script-${++number}.yaml`);
  writeFileSync(file, JSON.stringify({ ...(pace !== undefined && { pace }), turns }));
  return `scripted:${file}`;
}

export const run = (command: string, more: Record<string, unknown> = {}) => ({
  operation: 'terminal.run',
  input: { command, ...more },
});
