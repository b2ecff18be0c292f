import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
/** A violation in the JSON output of dependency-cruiser. */
interface Violation {
  rule: { name: string };
  from: string;
  to: string;
  cycle?: { name: string }[];
}

export interface ForbiddenImport {
  rule: string;
  from: string;
  to: string;
}

/** The folders of sources; build output is only checked as the target of imports. */
const sourcesIn = (root: string): string[] =>
  ['apps', 'libs']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}/src`))
    .concat('evaluation/src', 'e2e')
    .filter((folder) => existsSync(join(root, folder)));

/** Imports in a folder, the repository or a copy of it, that `.dependency-cruiser.cjs` forbids. */
export function forbiddenImports(root = repository): ForbiddenImport[] {
  const depcruise = join(repository, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const config = join(repository, '.dependency-cruiser.cjs');
  // Only for the repository, because a copy has the same file names.
  const cache = root === repository ? ['--cache', '--cache-strategy', 'content'] : [];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [depcruise, '--config', config, '--output-type', 'json', ...cache, ...sourcesIn(root)],
    { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 },
  );
  if (!stdout) throw new Error(`dependency-cruiser failed: ${stderr}`);
  const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } };
  return summary.violations.map(({ rule, from, to, cycle }) => ({
    rule: rule.name,
    from,
    to: cycle ? cycle.map(({ name }) => name).join(' → ') : to,
  }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = forbiddenImports();
  for (const { rule, from, to } of found) console.log(`${rule}\n  ${from} → ${to}`);
  process.exitCode = found.length > 0 ? 1 : 0;
}
