// Compiles the agent once, with the node that ships, so that no sandbox has to: see start.cjs.
const { mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { Module } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const runtime = '/opt/belay';
const folder = join(runtime, 'compiled');
/** As BELAY_CONNECTION in the Dockerfile. */
const socket = '/rehearsal.sock';
/** What is compiled by then has to do. */
const timeoutMs = 20_000;

const { rehearse } = require(join(runtime, 'rehearsal.cjs'));

rehearse(socket).then(() => {
  // A short session runs, and so compiles, what every session begins with. Then the agent ends this process.
  const { load, loaded } = require(join(runtime, 'start.cjs'));
  process.once('exit', () => {
    mkdirSync(folder);
    for (const [name, { script }] of loaded)
      writeFileSync(join(folder, name), script.createCachedData());
    process.exitCode = [...loaded.keys()].every(isTaken) ? 0 : 1;
  });
  setTimeout(() => process.exit(), timeoutMs);
  for (const name of readdirSync(runtime)) if (/^import-.*\.cjs$/.test(name)) load(name);
});

/** Whether Node takes what was written. */
function isTaken(name) {
  const source = Module.wrap(readFileSync(join(runtime, name), 'utf8'));
  const cachedData = readFileSync(join(folder, name));
  return new Script(source, { cachedData }).cachedDataRejected === false;
}
