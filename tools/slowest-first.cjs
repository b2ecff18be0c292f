// The sequencer of the running Jest, from one of Jest’s own packages.
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The slowest files, in order. Without earlier measurements, as in CI, Jest starts with the largest
 * files and would leave these, which are short, to the end, where one worker would wait minutes for
 * another.
 */
const slowest = [
  'evaluation/src/cheating.long.spec.ts',
  'evaluation/src/tampering-languages.attacks.long.spec.ts',
  'e2e/system/conformance/busybox.long.container.ts',
  'e2e/system/conformance/default.long.container.ts',
  'evaluation/src/second-check.attacks.long.spec.ts',
  'evaluation/src/wrong-tests-check.attacks.long.spec.ts',
  'e2e/system/machine-cut.long.container.ts',
  'e2e/system/several-servers.long.container.ts',
  'e2e/system/cut-network.long.container.ts',
  'e2e/system/machine-engine.long.container.ts',
  'apps/server/src/automations/strangers-out.attacks.long.spec.ts',
  'e2e/system/docs.long.container.ts',
  'e2e/dashboard/accessibility.long.e2e.ts',
  'evaluation/src/instance-check.attacks.long.spec.ts',
  'apps/server/src/automations/strangers-commits.attacks.long.spec.ts',
  'e2e/system/evaluation-places.long.container.ts',
  'apps/server/src/publishing/pull-requests.long.spec.ts',
  'e2e/system/reruns.long.container.ts',
  'e2e/system/action-installs.long.container.ts',
  'evaluation/src/harbor.long.spec.ts',
  'tools/layers.long.spec.ts',
  'apps/agent/src/terminal/terminals.long.spec.ts',
  'evaluation/src/classic-instances.long.spec.ts',
  'e2e/system/machines.long.container.ts',
  'apps/server/src/automations/out/outgoing-check.attacks.long.spec.ts',
  'libs/rpc/src/socket.long.spec.ts',
  'e2e/system/actions.long.container.ts',
  'apps/server/src/automations/strangers-texts.attacks.long.spec.ts',
  'e2e/dashboard/evaluation.long.e2e.ts',
  'e2e/kubernetes/confined-session.container.ts',
  'e2e/system/shared-sessions.container.ts',
  'apps/server/src/publishing/publishing.spec.ts',
  'e2e/system/automations.container.ts',
  'apps/server/src/automations/strangers-out.attacks.spec.ts',
  'evaluation/src/runs.spec.ts',
  'apps/server/src/publishing/pull-requests.spec.ts',
  'apps/agent/src/browser/browser.spec.ts',
  'evaluation/src/cheating.spec.ts',
  'e2e/system/hosts/program-tasks.container.ts',
  'evaluation/src/services.spec.ts',
  'e2e/dashboard/automations.e2e.ts',
  'apps/server/src/automations/forges/forge-contract.spec.ts',
  'e2e/dashboard/accessibility.e2e.ts',
  'evaluation/src/run.spec.ts',
  'apps/agent/src/history/history-copies.spec.ts',
  'apps/server/src/automations/out/run-publisher.spec.ts',
  'e2e/system/actions.container.ts',
  'apps/agent/src/drivers/acp/acp-driver.spec.ts',
  'evaluation/src/harbor.spec.ts',
  'apps/server/src/api/auth/team.spec.ts',
  'apps/server/src/sessions/sign-ins.attacks.spec.ts',
  'e2e/system/reruns.container.ts',
  'apps/server/src/automations/strangers-commits.attacks.spec.ts',
  'e2e/dashboard/panels.e2e.ts',
  'apps/agent/src/history/history.spec.ts',
  'apps/server/src/automations/strangers-texts.attacks.spec.ts',
  'apps/agent/src/terminal/background.spec.ts',
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
