// Starts the agent with code compiled in advance. Node’s own compile cache stores a file as it is
// before it runs, so each function would be compiled at its first call, in every sandbox. This code
// includes the functions that ran in compile.cjs.
const { readFileSync } = require('node:fs');
const { Module } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

/** The loaded files of the agent’s bundle, by name. */
const loaded = new Map();

function load(name) {
  const known = loaded.get(name);
  if (known) return known.module.exports;
  const filename = join(__dirname, name);
  const source = Module.wrap(readFileSync(filename, 'utf8'));
  // Node ignores code compiled by another version.
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
    return undefined; // Missing while compile.cjs runs, and for files that are rarely used.
  }
}

module.exports = { load, loaded };
load('agent.cjs');
