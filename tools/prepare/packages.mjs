import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../product-node.mjs';
import { runProgram } from './run-program.mjs';

/** Installs the packages of the lock file if the installed ones differ from it. */
export async function preparePackages(say) {
  const installed = join(root, 'node_modules/.package-lock.json');
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const isThere = (path) => existsSync(join(root, path));
  if (existsSync(installed) && isInstalled(lock, readFileSync(installed, 'utf8'), isThere)) return;
  say('installing what package-lock.json lists');
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  await runProgram(command, [...first, 'ci', '--no-audit', '--no-fund'], { cwd: root });
}

/**
 * Compares the lock file with npm’s record of node_modules, which omits packages for other
 * platforms. Packages in other node_modules folders must also exist, because cleaning a part of the
 * product removes them.
 */
export function isInstalled(lockText, installedText, isThere) {
  const wanted = JSON.parse(lockText).packages;
  const present = JSON.parse(installedText).packages;
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.includes('node_modules/')) return true;
    if (!(path in present)) return Boolean(entry.optional);
    const kept = path.startsWith('node_modules/') || isThere(path);
    return kept && present[path].version === entry.version;
  });
}
