import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Instruction } from './prepare/steps.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

const require = createRequire(join(root, 'package.json'));

/**
 * Otherwise this is an installed package, already built, with its dependencies; npm packs no lock
 * file.
 */
export const isCheckout = existsSync(join(root, 'package-lock.json'));

/** Files that may be kept between starts. */
export const cacheFolder = isCheckout
  ? join(root, 'node_modules/.cache')
  : join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'belay');

/**
 * The folder of an npm package, or undefined if it is not installed, such as one for another
 * platform.
 */
export function packageFolder(name) {
  const own = join(root, 'node_modules', name);
  // Node caches failed lookups, and npm may have installed the package since.
  if (existsSync(own)) return own;
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** The product’s Node: the pinned package, or else the current Node if it is new enough. */
export function productNode() {
  const folder = packageFolder(`node-${process.platform}-${process.arch}`);
  if (folder) return join(folder, 'bin/node');
  if (isRecent(process.version)) return process.execPath;
  throw new Instruction(
    `Belay needs Node 24 or newer on ${process.platform}-${process.arch}; this is ${process.version}. Install it from https://nodejs.org and run the command again.`,
  );
}

/**
 * The environment of child processes; the product's Node and the packages' commands are first in
 * PATH.
 */
export function productEnvironment(more = {}) {
  const path = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  return { ...process.env, PATH: path, ...more };
}

export const isRecent = (version) => Number(version.replace(/^v/, '').split('.')[0]) >= 24;
