import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Instruction } from './prepare/steps.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

const require = createRequire(join(root, 'package.json'));

/** Else this is an installed package: built, with its packages beside it. npm packs no lock file. */
export const isCheckout = existsSync(join(root, 'package-lock.json'));

/** What may be kept between starts. */
export const cacheFolder = isCheckout
  ? join(root, 'node_modules/.cache')
  : join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'belay');

/** Where npm has put a package; undefined where it is not installed, as one for another platform. */
export function packageFolder(name) {
  const own = join(root, 'node_modules', name);
  // Node remembers where it found nothing, and npm may have installed it since.
  if (existsSync(own)) return own;
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** The Node that the product runs on: the pinned package, else the Node that runs this when it is new enough. */
export function productNode() {
  const folder = packageFolder(`node-${process.platform}-${process.arch}`);
  if (folder) return join(folder, 'bin/node');
  if (isRecent(process.version)) return process.execPath;
  throw new Instruction(
    `Belay needs Node 24 or newer on ${process.platform}-${process.arch}; this is ${process.version}. Install it from https://nodejs.org and run the command again.`,
  );
}

/** The environment of child processes: the product's Node and the packages' commands come first. */
export function productEnvironment(more = {}) {
  const path = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  return { ...process.env, PATH: path, ...more };
}

export const isRecent = (version) => Number(version.replace(/^v/, '').split('.')[0]) >= 24;
