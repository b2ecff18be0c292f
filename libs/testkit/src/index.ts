export * from './chromium.js';
export * from './command.js';
export * from './describe-system.js';
export * from './run-docs-page.js';
export * from './engine.js';
export * from './environment.js';
export * from './followed.js';
export * from './idle.js';
export * from './lengthen.js';
export * from './multiply-session.js';
export * from './mcp.js';
export * from './metrics-on-free-port.js';
export {
  answered,
  choose,
  chord,
  click,
  clickOn,
  clickTerminalLink,
  fill,
  focusOn,
  hasFocus,
  hides,
  positionOf,
  runFromPalette,
  shows,
  textOf,
  unfold,
  untilInPage,
} from './page.js';
export { addressForPods } from './cluster/address-for-pods.js';
export { clusterCommand } from './cluster/cluster-command.js';
export { clusterServer, clusterVariables } from './cluster/cluster-server.js';
export { chartFolder, renderChart } from './cluster/render-chart.js';
export { TestCluster } from './cluster/test-cluster.js';
export * from './report-sample-run.js';
export * from './script.js';
export * from './belay-server.js';
export { SecondEngine, type SecondEngineOptions } from './second-engine.js';
export { SharedServers, type ServerPlace } from './shared-servers.js';
export * from './source-copy.js';
export { untilWarm } from './until-warm.js';
export { Canary, commitFolder, gitIn, hostileRepository, put } from './hostile-repository.js';
export { GitServer } from './git-server.js';
export { PullRequestServer } from './pull-request-server.js';
export { callForge } from './forge/call-forge.js';
export { githubSecondaryLimit } from './forge/github-answers.js';
export { HookReceiver, type ReceivedHook } from './forge/hook-receiver.js';
export { startForge, type PlayedForge } from './forge/start-forge.js';
export type { DeliveryFate, HookDelivery } from './forge/webhook-sender.js';
export type * from './forge/forge-records.js';
export type { PlayedLevel } from './forge/played-levels.js';
