import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const texts = new Map<string, string>();

/** The text of a file in the folder `assets`. tools/bundle.ts puts all of them into the bundle. */
export function assetText(name: string): string {
  const text = texts.get(name) ?? readFileSync(join(__dirname, '../assets', name), 'utf8');
  texts.set(name, text);
  return text;
}
