#!/usr/bin/env node
// Plain JavaScript for any Node: hands over to the product's own Node where this one is too old.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const bundle = fileURLToPath(new URL('../dist/bundle/belay.cjs', import.meta.url));
const require = createRequire(import.meta.url);

if (!existsSync(bundle)) {
  console.error('belay is not built yet: run “npm run build” in its checkout.');
  process.exit(2);
}
if (Number(process.versions.node.split('.')[0]) >= 24) require(bundle);
else handOver();

function handOver() {
  let node;
  try {
    node = require.resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    console.error(`belay needs Node 24 or newer, and this is ${process.version}.`);
    process.exit(2);
  }
  // The channel breaks when this process is killed, which ends the child too.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  const child = spawn(node, [bundle, ...process.argv.slice(2)], { stdio });
  // Ctrl-C reaches the child from the terminal itself; what is sent to this process alone is passed on.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === 'SIGINT' ? 2 : 15);
  });
}
