// The sequencer of the Jest that runs: a package of Jest’s own, at its version.
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The files that take longest, in order. Where nothing was measured yet, as in CI, Jest begins with the largest files
 * and would leave these, which are short, to the end: one worker would wait minutes for the other.
 */
const slowest = [
  'evaluation/src/cheating.long.spec.ts',
  'evaluation/src/second-check.attacks.long.spec.ts',
  'apps/agent/src/terminal/conformance/conformance.spec.ts',
  'apps/agent/src/browser/browser.spec.ts',
  'evaluation/src/swe-bench-check.attacks.long.spec.ts',
  'apps/agent/src/terminal/background.spec.ts',
  'libs/rpc/src/socket.spec.ts',
  'apps/agent/src/terminal/terminals.spec.ts',
  'e2e/system/conformance/default.long.container.ts',
  'e2e/system/conformance/busybox.long.container.ts',
  'e2e/system/conformance/debian.long.container.ts',
  'e2e/dashboard/accessibility.long.e2e.ts',
  'e2e/dashboard/accessibility.e2e.ts',
  'e2e/system/docs.container.ts',
  'e2e/system/machines.container.ts',
  'e2e/system/conformance/default.container.ts',
];

const rank = ({ path }) => {
  const at = slowest.findIndex((file) => path.endsWith(`/${file}`));
  return at < 0 ? slowest.length : at;
};

/** Jest’s own order, behind the files that take longest. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rank(one) - rank(other));
  }
};

module.exports.slowest = slowest;
