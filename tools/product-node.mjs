import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Instruction } from './prepare/steps.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** The Node that the product runs on: the pinned package, else the Node that runs this when it is new enough. */
export function productNode() {
  const pinned = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
  if (existsSync(pinned)) return pinned;
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
