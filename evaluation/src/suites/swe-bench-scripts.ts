/** Exit codes of evaluate.sh that are not the tests'. */
export const patchRefused = 97;
export const setupFailed = 98;

/**
 * Applies the patch the ways SWE-bench does, with a clean tree in between, and runs the evaluation script.
 * One stream for all output: the markers are printed by `set -x`, the tests' results between them are not.
 * The process's own exit code is that of the tests.
 */
export function evaluationScript({ init }: { init: boolean }): string {
  return `#!/bin/bash
exec 2>&1
cd /testbed || exit ${setupFailed}
export GIT_CONFIG_GLOBAL=/tmp/.gitconfig
git config --global --add safe.directory /testbed
git config --global user.email agent@localhost
git config --global user.name agent
git config --global core.hooksPath /dev/null
${init ? `{ git init -q . && git add -A -f && git commit -q -m base; } || exit ${setupFailed}` : ':'}
if [ -s /verify/patch.diff ]; then
  clean() { git reset -q --hard HEAD && git clean -fdq; }
  git apply --verbose /verify/patch.diff \\
    || { clean; git apply --verbose --3way /verify/patch.diff; } \\
    || { clean; git apply --verbose --reject /verify/patch.diff; } \\
    || { clean; patch --batch --forward --fuzz=5 -p1 -i /verify/patch.diff; } \\
    || exit ${patchRefused}
fi
exec bash /verify/eval.sh
`;
}

const endMarker = />>>>> End Test Output/;

/** Keeps the exit code of the command before the end marker, and ends with it. */
export function recordedExit(script: string): string {
  const lines = script.split('\n');
  const at = lines.findIndex((line) => endMarker.test(line));
  if (at < 0) return script;
  const before = lines.slice(0, at);
  const after = lines.slice(at);
  return [...before, 'belay_code=$?', ...after, 'exit $belay_code', ''].join('\n');
}

/**
 * For programs that test by `console.assert`, which only prints: a failed assertion, or an end before the
 * test file was through, is exit code 1, whatever the tested code does to console or process.
 */
export const guard = `'use strict';
const { reallyExit } = process;
const write = process.stderr.write.bind(process.stderr);
const format = require('node:util').format;
let failed = 0;
const assert = (value, ...more) => {
  if (value) return;
  failed += 1;
  write('Assertion failed' + (more.length > 0 ? ': ' + format(...more) : '') + '\\n');
};
Object.defineProperty(console, 'assert', { value: assert, writable: false, configurable: false });
Object.defineProperty(globalThis, 'console', { value: console, writable: false, configurable: false });
const { prototype } = require('node:module');
const { load } = prototype;
let through = false;
prototype.load = function (...args) {
  load.apply(this, args);
  if (this.id === '.') through = true;
};
const good = () => failed === 0 && through;
const ending = (code) => reallyExit.call(process, good() ? code : code || 1);
for (const name of ['reallyExit', 'exit', 'abort', 'kill'])
  Object.defineProperty(process, name, {
    value: name === 'exit' || name === 'reallyExit' ? (code = 0) => ending(code) : () => ending(1),
    writable: false,
    configurable: false,
  });
process.on('exit', (code) => ending(code));
`;
