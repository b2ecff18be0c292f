import { runCommand } from './prepare/machine.mjs';
import { Instruction } from './prepare/steps.mjs';

// Tests Kubernetes as the host of containers on a cluster that is given, with Jest’s options after it.
if (process.env.BELAY_TEST_CLUSTER) {
  // One after another, because some end parts of the cluster.
  process.argv.splice(2, 0, '--selectProjects', 'kubernetes', '--maxWorkers', '1');
  await import('./test.mjs');
} else {
  await runCommand(async () => {
    throw new Instruction(
      'Set BELAY_TEST_CLUSTER to the kubeconfig of a cluster for tests; docs/kubernetes.md says what it needs.',
    );
  });
}
