import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface ListPathsOptions {
  /** In ms since 1970. */
  since?: number | undefined;
  /** Left out, with what is below. */
  skipped: ReadonlySet<string>;
}

/**
 * The paths below a folder in the form of the stream `program.listing`, a piece for each folder. When something was
 * changed is the time of its last change of status, which no program can set.
 */
export function* listPaths(
  folder: string,
  { since = Infinity, skipped }: ListPathsOptions,
): Generator<Buffer> {
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const lines: string[] = [];
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (skipped.has(path)) continue;
      lines.push(`${lstatSync(path).ctimeMs >= since ? '+' : '='}${path}\0`);
      if (entry.isDirectory()) folders.push(path);
    }
    if (lines.length > 0) yield Buffer.from(lines.join(''));
  }
}
