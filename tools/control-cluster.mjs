import { execFileSync } from 'node:child_process';

/** The network between the pods and this machine, of a cluster for tests that runs on it. */
const podNetwork = 'kube-pods';

// Ends or starts a part of the cluster that BELAY_TEST_CLUSTER_COMMAND has started: “stop kubelet”, “start network”.
const [verb, part] = process.argv.slice(2);
const options = { stdio: ['ignore', 'inherit', 'inherit'] };
if (part === 'network')
  execFileSync('ip', ['link', 'set', podNetwork, verb === 'stop' ? 'down' : 'up'], options);
else
  execFileSync('sh', ['-c', `${process.env.BELAY_TEST_CLUSTER_COMMAND} ${verb} ${part}`], options);
