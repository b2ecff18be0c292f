import { sealFolder } from './seal.js';

/** Exit codes of evaluate.sh that are not the tests'. */
export const patchRefused = 97;
export const setupFailed = 98;
export const testPatchRefused = 96;

/**
 * Applies the patch the ways SWE-Bench does with git, with a clean tree in between, puts the base's own files back
 * where the patch could answer for the tests, and runs the evaluation script. What git refuses (paths of `.git`, or
 * beyond a link) GNU patch is not asked for.
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
    || exit ${patchRefused}
  # The base's own file or none, whatever stands there or above it.
  restore() {
    local above=$1
    while above=$(dirname -- "$above"); [ "$above" != . ]; do
      if [ -L "$above" ] || { [ -e "$above" ] && [ ! -d "$above" ]; }; then rm -f -- "$above"; fi
    done
    rm -rf -- "$1"
    git --literal-pathspecs rm -rq --cached --ignore-unmatch -- "$1"
    git --literal-pathspecs checkout -q HEAD -- "$1" 2>/dev/null || :
  }
  answering=$(cat /verify/answering)
  while IFS=$'\\t' read -r -d '' _ _ path; do
    if [[ $path =~ $answering ]] && ! grep -qzFx -e "$path" /verify/reference; then
      echo "Not changed by the patch: $path"
      restore "$path"
    fi
  done < <(git apply --numstat -z /verify/patch.diff)
  while IFS= read -r -d '' path; do restore "$path"; done < /verify/hidden
fi
exec bash /verify/eval.sh
`;
}

/** As the harness of SWE-bench records it. */
const exitMarker = '>>>>> Test Exit Code';

const endMarker = />>>>> End Test Output/;

const testPatch = /^\s*git\s+apply\b.*<<-?\s*['"]?\w+['"]?\s*$/;

/**
 * Keeps the exit code of the command before the end marker, and ends with it. A test patch that does not apply ends the
 * script: tests that are not there fail nobody.
 */
export function recordedExit(script: string): string {
  const lines = script
    .split('\n')
    .map((line) => (testPatch.test(line) ? `${line} || exit ${testPatchRefused}` : line));
  const at = lines.findIndex((line) => endMarker.test(line));
  if (at < 0) return script;
  const before = lines.slice(0, at);
  const [end = '', ...after] = lines.slice(at);
  const code = before.some((line) => line.startsWith('SWEBENCH_TEST_EXIT_CODE='))
    ? '$SWEBENCH_TEST_EXIT_CODE'
    : '$?';
  const printed = after.some((line) => line.includes(exitMarker));
  return [
    ...before,
    `belay_code=${code}`,
    end,
    ...(printed ? [] : [`echo "${exitMarker}: $belay_code"`]),
    ...after,
    'exit $belay_code',
    '',
  ].join('\n');
}

/**
 * For programs that test by `console.assert`, which only prints: a failed assertion, or an end before the
 * test file was through, is exit code 1, whatever the tested code does to console or process.
 */
export const guard = `'use strict';
const fs = require('node:fs');
const { createHmac } = require('node:crypto');
const { deflateSync } = require('node:zlib');
let key;
try {
  key = fs.readFileSync('${sealFolder}/key');
  fs.unlinkSync('${sealFolder}/key');
} catch {}
const { writeSync } = fs;
const hashed = createHmac.bind(null, 'sha256');
const { update, digest } = require('node:crypto').Hmac.prototype;
const report = () => {
  const text = deflateSync('{"tests":{"test.js":"PASSED"},"errors":0}').toString('base64');
  const seal = digest.call(update.call(hashed(key), text), 'hex');
  writeSync(1, '\\nbelay-seal ' + seal + ' ' + text + '\\n');
};
require('node:inspector').Session.prototype.connect = undefined;
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
`;
