#!/usr/bin/env node
// The command line in the current Node; `belay` beside it finds the right one.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const bundle = fileURLToPath(new URL('../dist/bundle/belay.cjs', import.meta.url));

if (!existsSync(bundle)) {
  console.error('belay is not built yet: run “npm run build” in its checkout.');
  process.exitCode = 2;
} else if (Number(process.versions.node.split('.')[0]) < 24) {
  const advice = 'run the file “belay” beside this one, which finds it';
  console.error(`belay needs Node 24 or newer, and this is ${process.version}: ${advice}.`);
  process.exitCode = 2;
} else createRequire(import.meta.url)(bundle);
