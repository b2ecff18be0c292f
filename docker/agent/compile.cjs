// Compiles the agent once, with the Node that ships with it, so that sandboxes need not: see
// start.cjs.
const { mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { Module } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const runtime = '/opt/belay';
const folder = join(runtime, 'compiled');
/** Must match BELAY_CONNECTION in the Dockerfile. */
const socket = '/rehearsal.sock';
/** Time limit; whatever is compiled by then is used. */
const timeoutMs = 20_000;

const { rehearse } = require(join(runtime, 'rehearsal.cjs'));

rehearse(socket).then(() => {
  // Running a short session compiles what every session needs at its start. The agent then ends
  // this process.
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

/** Whether Node accepts the compiled code. */
function isTaken(name) {
  const source = Module.wrap(readFileSync(join(runtime, name), 'utf8'));
  const cachedData = readFileSync(join(folder, name));
  return new Script(source, { cachedData }).cachedDataRejected === false;
}
