import { addAgentSandbox, NoCluster, partCluster } from './part-cluster.mjs';
import { runCommand } from './prepare/machine.mjs';
import { Instruction, step } from './prepare/steps.mjs';
import { countLine } from './test-count.mjs';

/** For every change: a session of a real server, and what its pod can do and reach. */
const part = 'e2e/kubernetes/confined-session';

// Tests Kubernetes as the host of containers, with Jest’s options after it, on a cluster that is given or started for
// them. With --part, only the most important tests, and without a cluster a line says that there are none.
if (process.argv[2] === '--part') {
  try {
    await testOnCluster(['--testPathPatterns', part]);
  } catch (error) {
    if (!(error instanceof NoCluster)) throw error;
    console.log(`Kubernetes was not tested: ${error.message}.`);
    console.log(countLine({ passed: 0, failed: 0, skipped: 1 }));
  }
} else {
  await runCommand(async () => {
    try {
      await testOnCluster(process.argv.slice(2), { isWhole: true });
      return process.exitCode;
    } catch (error) {
      if (!(error instanceof NoCluster)) throw error;
      throw new Instruction(
        `There is no cluster for tests: ${error.message}. docs/kubernetes.md says what is needed.`,
      );
    }
  });
}

async function testOnCluster(options, { isWhole = false } = {}) {
  const cluster = await step('cluster', () => partCluster());
  Object.assign(process.env, cluster.environment);
  try {
    if (isWhole)
      Object.assign(process.env, await step('agent-sandbox', () => addAgentSandbox(cluster)));
    await test(options);
  } finally {
    await step('end of the cluster', cluster.down);
  }
}

/** One after another, because some tests end parts of the cluster. */
async function test(options) {
  process.argv.splice(
    2,
    Infinity,
    '--selectProjects',
    'kubernetes',
    '--maxWorkers',
    '1',
    ...options,
  );
  await import('./test.mjs');
}
