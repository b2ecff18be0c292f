import { NoCluster, partCluster } from './part-cluster.mjs';
import { runCommand } from './prepare/machine.mjs';
import { Instruction, step } from './prepare/steps.mjs';
import { countLine } from './test-count.mjs';

/** For every change: a session of a real server, and what its pod can do and reach. */
const part = 'e2e/kubernetes/confined-session';

// Tests Kubernetes as the host of containers on a cluster that is given, with Jest’s options after it. With --part, only
// the most important tests, on a cluster that is started for them if none is given.
if (process.argv[2] === '--part') await testPart();
else if (process.env.BELAY_TEST_CLUSTER) await test(process.argv.slice(2));
else {
  await runCommand(async () => {
    throw new Instruction(
      'Set BELAY_TEST_CLUSTER to the kubeconfig of a cluster for tests; docs/kubernetes.md says what it needs.',
    );
  });
}

async function testPart() {
  try {
    const { environment, down } = await step('cluster', () => partCluster());
    Object.assign(process.env, environment);
    try {
      await test(['--testPathPatterns', part]);
    } finally {
      await step('end of the cluster', down);
    }
  } catch (error) {
    if (!(error instanceof NoCluster)) throw error;
    console.log(`Kubernetes was not tested: ${error.message}.`);
    console.log(countLine({ passed: 0, failed: 0, skipped: 1 }));
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
