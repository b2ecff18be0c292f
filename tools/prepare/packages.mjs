import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../product-node.mjs';
import { runProgram } from './run-program.mjs';

/** Installs the packages of the lock file when what is installed differs from it. */
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
 * npm keeps a lock of what it put into node_modules; packages for other platforms are missing there. What it put
 * beside a part of the product goes when that is cleaned, and is looked for.
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
