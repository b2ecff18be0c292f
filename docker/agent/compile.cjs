// Compiles the agent once, with the node that ships, so that no sandbox has to: see NODE_COMPILE_CACHE.
const { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync } = require('node:fs');
const { enableCompileCache, flushCompileCache } = require('node:module');
const { join } = require('node:path');

const runtime = '/opt/belay';
const folder = join(runtime, 'compiled');
/** Node keeps what it compiled apart by user: this is the sandbox's. */
const user = 1000;

mkdirSync(folder);
chownSync(folder, user, user);
process.setgid(user);
process.setuid(user);
enableCompileCache(folder);

// It dials a server that is not there, which runs, and so compiles, all that an idle agent needs.
require(join(runtime, 'agent.cjs'));
for (const name of readdirSync(runtime))
  if (/^(open-rooms|import)-.*\.cjs$/.test(name)) require(join(runtime, name));

setTimeout(() => {
  flushCompileCache();
  const files = readdirSync(folder, { recursive: true });
  for (const name of files) chmodSync(join(folder, name), 0o755);
  // The root profile's agent reads the same.
  for (const name of readdirSync(folder))
    symlinkSync(name, join(folder, name.replace(/1000$/, '0')));
  process.exit(files.length > 2 ? 0 : 1);
}, 1_000);
