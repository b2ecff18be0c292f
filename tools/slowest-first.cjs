// The sequencer of the running Jest, from one of Jest’s own packages.
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * The slowest files, in order. Without earlier measurements, as in CI, Jest starts with the largest
 * files and would leave these, which are short, to the end, where one worker would wait minutes for
 * another.
 */
const slowest = [
  'evaluation/src/tampering-languages.attacks.long.spec.ts',
  'evaluation/src/cheating.long.spec.ts',
  'e2e/system/conformance/default.long.container.ts',
  'evaluation/src/second-check.attacks.long.spec.ts',
  'e2e/system/machine-cut.long.container.ts',
  'e2e/system/docs.long.container.ts',
  'e2e/dashboard/accessibility.long.e2e.ts',
  'e2e/system/conformance/busybox.long.container.ts',
  'e2e/system/several-servers.long.container.ts',
  'evaluation/src/wrong-tests-check.attacks.long.spec.ts',
  'apps/server/src/automations/strangers-out.attacks.long.spec.ts',
  'apps/agent/src/terminal/terminals.long.spec.ts',
  'e2e/system/evaluation-places.long.container.ts',
  'e2e/system/machine-engine.long.container.ts',
  'e2e/system/cut-network.long.container.ts',
  'e2e/dashboard/timeline.long.e2e.ts',
  'apps/agent/src/browser/browser.long.spec.ts',
  'e2e/dashboard/evaluation.long.e2e.ts',
  'libs/rpc/src/socket.long.spec.ts',
  'evaluation/src/instance-check.attacks.long.spec.ts',
  'evaluation/src/run.long.spec.ts',
  'e2e/system/command.long.container.ts',
  'e2e/dashboard/panels.long.e2e.ts',
  'evaluation/src/harbor.long.spec.ts',
  'apps/agent/src/terminal/conformance/conformance.long.spec.ts',
  'evaluation/src/services.long.spec.ts',
  'e2e/system/reruns.long.container.ts',
  'evaluation/src/runs.long.spec.ts',
  'e2e/dashboard/files.long.e2e.ts',
  'e2e/dashboard/git.long.e2e.ts',
  'e2e/system/actions.long.container.ts',
  'e2e/dashboard/habits.long.e2e.ts',
  'e2e/system/drained-machines.long.container.ts',
  'e2e/system/automations.long.container.ts',
  'e2e/kubernetes/confined-session.container.ts',
  'e2e/system/automations.container.ts',
  'e2e/system/shared-sessions.container.ts',
  'apps/server/src/publishing/publishing.spec.ts',
  'apps/server/src/automations/strangers-out.attacks.spec.ts',
  'apps/server/src/automations/out/run-publisher.spec.ts',
  'evaluation/src/runs.spec.ts',
  'apps/server/src/publishing/pull-requests.spec.ts',
  'e2e/dashboard/panels.e2e.ts',
  'e2e/system/actions.container.ts',
  'e2e/dashboard/automations.e2e.ts',
  'apps/agent/src/drivers/acp/acp-driver.spec.ts',
  'evaluation/src/services.spec.ts',
  'e2e/dashboard/accessibility.e2e.ts',
  'apps/server/src/automations/triggers/deliveries.spec.ts',
  'e2e/system/reruns.container.ts',
  'evaluation/src/cheating.spec.ts',
  'apps/agent/src/browser/browser.spec.ts',
  'libs/containers/src/kubernetes/made-objects.spec.ts',
  'e2e/system/hosts/docker.container.ts',
  'apps/agent/src/history/history-copies.spec.ts',
  'e2e/dashboard/files.e2e.ts',
  'e2e/system/limits.container.ts',
  'apps/server/src/git/repository-fetcher.spec.ts',
  'apps/agent/src/terminal/background.spec.ts',
  'e2e/system/agents/own-programs.container.ts',
  'e2e/system/command.container.ts',
  'e2e/dashboard/demo.e2e.ts',
  'e2e/attacks/from-inside.container.ts',
  'apps/server/src/api/auth/foreign-things.attacks.spec.ts',
  'apps/server/src/api/dashboard/dashboard.gateway.spec.ts',
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
