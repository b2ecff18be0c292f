// The sequencer of the running Jest, from one of Jest’s own packages.
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The slowest files, in order. Without earlier measurements, as in CI, Jest starts with the largest
 * files and would leave these, which are short, to the end, where one worker would wait minutes for
 * another.
 */
const slowest = [
  'evaluation/src/cheating.long.spec.ts',
  'evaluation/src/second-check.attacks.long.spec.ts',
  'apps/agent/src/terminal/conformance/conformance.long.spec.ts',
  'apps/agent/src/browser/browser.spec.ts',
  'evaluation/src/cheating.spec.ts',
  'evaluation/src/services.spec.ts',
  'evaluation/src/runs.spec.ts',
  'evaluation/src/run.spec.ts',
  'apps/agent/src/terminal/conformance/conformance.spec.ts',
  'evaluation/src/instance-check.attacks.long.spec.ts',
  'apps/agent/src/history/rewind.long.spec.ts',
  'apps/agent/src/drivers/acp/acp-flood.attacks.long.spec.ts',
  'evaluation/src/engine/task-container.long.spec.ts',
  'evaluation/src/services.long.spec.ts',
  'evaluation/src/run.long.spec.ts',
  'evaluation/src/runs.long.spec.ts',
  'apps/agent/src/terminal/terminals.long.spec.ts',
  'apps/agent/src/terminal/background.spec.ts',
  'e2e/system/conformance/default.long.container.ts',
  'e2e/system/conformance/busybox.long.container.ts',
  'e2e/system/conformance/debian.long.container.ts',
  'e2e/dashboard/accessibility.long.e2e.ts',
  'e2e/dashboard/accessibility.e2e.ts',
  'e2e/system/machines.long.container.ts',
  'e2e/system/docs.long.container.ts',
  'e2e/system/evaluation.long.container.ts',
  'e2e/dashboard/evaluation.long.e2e.ts',
  'evaluation/src/harbor.long.spec.ts',
  'apps/server/src/publishing/pull-requests.long.spec.ts',
  'apps/server/src/api/auth/team.long.spec.ts',
  'apps/server/src/approvals/approval.service.long.spec.ts',
  'libs/client/src/rest-upload.long.spec.ts',
  'libs/rpc/src/socket.long.spec.ts',
  'e2e/dashboard/development.long.e2e.ts',
  'e2e/dashboard/evaluation-board.long.e2e.ts',
  'e2e/dashboard/timeline.long.e2e.ts',
  'e2e/system/actions.long.container.ts',
  'e2e/system/command.long.container.ts',
  'e2e/dashboard/chat.long.e2e.ts',
  'evaluation/src/harbor.spec.ts',
  'apps/server/src/publishing/pull-requests.spec.ts',
  'apps/server/src/api/auth/team.spec.ts',
  'e2e/system/conformance/default.container.ts',
];

const rank = ({ path }) => {
  const at = slowest.findIndex((file) => path.endsWith(`/${file}`));
  return at < 0 ? slowest.length : at;
};

/** The slowest files first, then Jest’s own order. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rank(one) - rank(other));
  }
};

module.exports.slowest = slowest;
