import { isStranded } from './is-stranded.js';
import { unscheduled } from './testing/unscheduled.js';

const earlier = '2 node(s) had volume node affinity conflict';
const elsewhere = "2 node(s) didn't match PersistentVolume's node affinity";
const kept = '1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }';

it.each([
  [elsewhere, true],
  [earlier, true],
  [`${kept}, ${elsewhere}`, true],
  [kept, false],
  // A node with the volume may be among these.
  [`1 Insufficient memory, ${elsewhere}`, false],
  [`1 node(s) were unschedulable, ${earlier}`, false],
  [`1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, ${earlier}`, false],
  [`1 node(s) had untolerated taint(s), ${elsewhere}`, false],
])('a pod that waits because of “%s” is stranded: %s', (reasons, expected) => {
  const after = ['', ' preemption: 0/3 nodes are available: 3 No preemption victims found, 1 No.'];
  for (const more of after) {
    const status = unscheduled(`0/3 nodes are available: ${reasons}.${more}`);
    expect(isStranded({ status })).toBe(expected);
  }
});

it('a pod that has a node is not stranded', () => {
  expect(isStranded({ status: { phase: 'Running' } })).toBe(false);
});
