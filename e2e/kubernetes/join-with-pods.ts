import { prepared, type TestCluster } from '@belay/testkit';

/** The options of `belay join` for the pods of a test’s namespace, which dial this port. */
export function joinWithPods({ address, namespace }: TestCluster, port: number): string[] {
  const named = {
    image: prepared('BELAY_TEST_IMAGE'),
    'runtime-image': prepared('BELAY_RUNTIME_IMAGE'),
    'agent-url': `wss://${address}:${port}`,
    namespace,
    memory: '512',
    cpus: '1',
    'max-sandboxes': '3',
  };
  const pairs = Object.entries(named).flatMap(([name, value]) => [`--${name}`, value]);
  return ['--kubernetes', ...pairs];
}
