// For programs that test with `console.assert`, which only prints: a failed assertion, or an exit
// before the end of the test file, gives exit code 1, whatever the tested code does to console or
// process.
'use strict';
const fs = require('node:fs');
const { createHmac } = require('node:crypto');
const { deflateSync } = require('node:zlib');
let key;
try {
  key = fs.readFileSync('/verify-seal/key');
  fs.unlinkSync('/verify-seal/key');
} catch {}
const { writeSync } = fs;
const hashed = createHmac.bind(null, 'sha256');
const { update, digest } = require('node:crypto').Hmac.prototype;
const report = () => {
  const text = deflateSync('{"tests":{"test.js":"PASSED"},"errors":0}').toString('base64');
  const seal = digest.call(update.call(hashed(key), text), 'hex');
  writeSync(1, '\nbelay-seal ' + seal + ' ' + text + '\n');
};
require('node:inspector').Session.prototype.connect = undefined;
const { reallyExit } = process;
const write = process.stderr.write.bind(process.stderr);
const format = require('node:util').format;
let failed = 0;
const assert = (value, ...more) => {
  if (value) return;
  failed += 1;
  write('Assertion failed' + (more.length > 0 ? ': ' + format(...more) : '') + '\n');
};
Object.defineProperty(console, 'assert', { value: assert, writable: false, configurable: false });
Object.defineProperty(globalThis, 'console', {
  value: console,
  writable: false,
  configurable: false,
});
const { prototype } = require('node:module');
const { load } = prototype;
let through = false;
let main;
prototype.load = function (...args) {
  main ??= this;
  load.apply(this, args);
  if (this === main) through = true;
};
const good = () => failed === 0 && through;
const ending = (code) => {
  if (good() && !code && key) report();
  key = undefined;
  reallyExit.call(process, good() ? code : code || 1);
};
for (const name of ['reallyExit', 'exit', 'abort', 'kill'])
  Object.defineProperty(process, name, {
    value: name === 'exit' || name === 'reallyExit' ? (code = 0) => ending(code) : () => ending(1),
    writable: false,
    configurable: false,
  });
process.on('exit', (code) => ending(code));
