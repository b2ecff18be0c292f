// For `jest --reporters`: a reporter runs in Jest's own process, outside the contexts of the tests.
'use strict';
const { readFileSync, unlinkSync, writeSync } = require('node:fs');
const { createHmac } = require('node:crypto');
const { deflateSync } = require('node:zlib');
const key = readFileSync('/verify-seal/key');
unlinkSync('/verify-seal/key');
const words = { passed: 'PASSED', failed: 'FAILED' };
module.exports = class {
  onRunComplete(_contexts, results) {
    const tests = {};
    for (const suite of results.testResults)
      for (const { fullName, status } of suite.testResults) {
        let name = fullName;
        for (let number = 2; name in tests; number += 1) name = fullName + ' #' + number;
        tests[name] = words[status] ?? 'SKIPPED';
      }
    const report = JSON.stringify({ tests, errors: results.numRuntimeErrorTestSuites });
    const text = deflateSync(report).toString('base64');
    const seal = createHmac('sha256', key).update(text).digest('hex');
    writeSync(1, '\nbelay-seal ' + seal + ' ' + text + '\n');
  }
};
