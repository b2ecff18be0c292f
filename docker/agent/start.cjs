// Starts the agent with its code compiled beforehand. Node’s own compile cache keeps a file as it is before it runs, and
// each function would be compiled at its first call, in every sandbox. This one has what ran in compile.cjs.
const { readFileSync } = require('node:fs');
const { Module } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

/** Each file of the agent’s bundle that was loaded, by name. */
const loaded = new Map();

function load(name) {
  const known = loaded.get(name);
  if (known) return known.module.exports;
  const filename = join(__dirname, name);
  const source = Module.wrap(readFileSync(filename, 'utf8'));
  // What was compiled by another Node is ignored.
  const script = new Script(source, { filename, cachedData: compiled(name) });
  const module = { exports: {} };
  loaded.set(name, { module, script });
  const requireFrom = (id) => (id.startsWith('./') ? load(id.slice(2)) : require(id));
  script.runInThisContext()(module.exports, requireFrom, module, filename, __dirname);
  return module.exports;
}

function compiled(name) {
  try {
    return readFileSync(join(__dirname, 'compiled', name));
  } catch {
    return undefined; // It is not there while compile.cjs makes it, and for what is rarely used.
  }
}

module.exports = { load, loaded };
load('agent.cjs');
