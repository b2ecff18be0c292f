import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readSaved } from '../saved-file.js';

const saved = z.array(z.string());
const fileIn = (folder: string): string => join(folder, 'engines.json');

/** The addresses of the engines in which agents of a joined server had containers: a later join may use another. */
export const usedEngines = (folder: string): string[] => readSaved(fileIn(folder), saved) ?? [];

/** Called before anything is created in the engine, so that `belay leave` finds all of it. */
export function rememberEngine(folder: string, dockerHost: string): void {
  const engines = new Set([...usedEngines(folder), dockerHost]);
  writeFileSync(fileIn(folder), JSON.stringify([...engines]), { mode: 0o600 });
}
