import type { V1ContainerState, V1ObjectMeta, V1Pod, V1PodStatus } from '@kubernetes/client-node';
import type { SeenState } from '../container-host.js';
import { lookAtPod, startFault, stateOf } from './pod-state.js';

const sandbox = { lastLine: '', setting: 'BELAY_MEMORY_MB' };

const podWith = (
  state: V1ContainerState,
  more: Pick<V1PodStatus, 'phase' | 'reason' | 'message' | 'conditions'> = {},
  metadata: V1ObjectMeta = {},
): V1Pod => ({
  metadata,
  spec: { containers: [{ name: 'first', resources: { limits: { memory: '256Mi' } } }] },
  status: {
    phase: 'Running',
    containerStatuses: [
      { name: 'first', image: 'img:1', imageID: 'x', ready: true, restartCount: 0, state },
    ],
    ...more,
  },
});

/** By its browser, which has ended. */
const unready = {
  conditions: [
    { type: 'Ready', status: 'False' },
    { type: 'ContainersReady', status: 'False' },
    { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' },
  ],
};
const ready = { type: 'Ready', status: 'True' };

/** Its time to end was over so many minutes ago. */
const deleted = (minutes: number): V1ObjectMeta => ({
  deletionTimestamp: new Date(Date.now() - minutes * 60_000),
});
const watched = (pod: V1Pod): V1Pod => JSON.parse(JSON.stringify(pod)) as V1Pod;

const ended = (exitCode: number, more = {}) => ({ terminated: { exitCode, ...more } });

describe('the state of a pod', () => {
  it('is that of its first container', () => {
    expect(stateOf(podWith({ running: {} }))).toBe('running');
    expect(stateOf(podWith({ waiting: {} }))).toBe('waiting');
    expect(stateOf(podWith(ended(0)))).toBe('ended');
    expect(stateOf({ status: { phase: 'Pending' } })).toBe('waiting');
    expect(stateOf({ status: { phase: 'Failed', reason: 'Evicted' } })).toBe('ended');
  });

  it.each<[string, V1Pod | undefined, string, string | null]>([
    [
      'memory',
      podWith(ended(137, { reason: 'OOMKilled' })),
      'ran out of its 256 MB of memory',
      'memory',
    ],
    // One of its programs was killed for memory before.
    ['a later exit', podWith(ended(3, { reason: 'OOMKilled' })), 'exit code 3', null],
    ['a kill', podWith(ended(137)), 'was killed (SIGKILL)', null],
    [
      'a first program that is missing',
      podWith(ended(128, { reason: 'StartError', message: 'exec: no such file\nmore' })),
      'could not run: exec: no such file more.',
      null,
    ],
    [
      'its disk',
      podWith(ended(137), {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'Container first exceeded its local ephemeral storage limit "8Mi". ',
      }),
      'wrote too much',
      'written',
    ],
    [
      'the disk of its node',
      podWith(ended(137), {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'The node was low on resource: ephemeral-storage.',
      }),
      'was evicted: The node was low on resource: ephemeral-storage.',
      null,
    ],
    [
      'a lost node',
      podWith(
        { running: {} },
        {
          conditions: [
            { type: 'Ready', status: 'False' },
            { type: 'ContainersReady', status: 'True' },
            { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' },
          ],
        },
      ),
      'its node does not respond',
      null,
    ],
    [
      'a node that responds and is to run nothing',
      podWith(ended(0), {
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'ContainersReady', status: 'False' },
          { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' },
        ],
      }),
      'its node is needed otherwise',
      null,
    ],
    [
      'a lost node, on which a container of the pod had ended before',
      podWith({ running: {} }, unready, deleted(1)),
      'its node does not respond',
      null,
    ],
    [
      'a drained node',
      podWith(ended(143), {
        conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }],
      }),
      'its node is needed otherwise',
      null,
    ],
    ['its removal', undefined, 'was removed', null],
  ])('says why it ended: %s', (_, pod, why, cause) => {
    const look = lookAtPod(pod, sandbox);
    expect(look.why).toContain(why);
    expect(look.cause).toBe(cause);
  });

  it('says that others deleted it', () => {
    const deleted = podWith(ended(143), {}, { deletionTimestamp: new Date() });
    expect(lookAtPod(deleted, sandbox).why).toBe('The sandbox was deleted in the cluster.');
  });
});

describe('a pod on a node that is given up, of which a container had ended before', () => {
  it.each<[string, V1Pod, SeenState]>([
    ['in the time that it has to end', podWith({ running: {} }, unready, deleted(-5)), 'running'],
    // Its node may be about to report it.
    ['just after that', podWith({ running: {} }, unready, deleted(0.1)), 'running'],
    ['later', podWith({ running: {} }, unready, deleted(1)), 'ended'],
    [
      'later, in what a watch brings',
      watched(podWith({ running: {} }, unready, deleted(1))),
      'ended',
    ],
    [
      'later on a node that responds',
      podWith({ running: {} }, { conditions: [ready, ...unready.conditions.slice(1)] }, deleted(1)),
      'running',
    ],
    [
      'later, when others deleted it',
      podWith({ running: {} }, { conditions: unready.conditions.slice(0, 2) }, deleted(1)),
      'running',
    ],
  ])('is lost once it is late to end: %s', (_, pod, state) => {
    expect(stateOf(pod)).toBe(state);
  });
});

describe('a pod that will not run', () => {
  const waiting = (reason: string, message = '') => podWith({ waiting: { reason, message } });

  it.each([
    [waiting('ErrImagePull', 'manifest unknown'), 'not_found', 'the image img:1'],
    [waiting('ImagePullBackOff', 'dial tcp: i/o timeout'), 'not_found', 'the image img:1'],
    [waiting('InvalidImageName', ''), 'not_found', 'the image img:1'],
    [
      waiting('CreateContainerConfigError', 'no such user\nx'),
      'unavailable',
      'could not run: no such user x.',
    ],
  ])('is told by its fault', (pod, code, message) => {
    const fault = startFault(pod);
    expect(fault).toMatchObject({ code });
    expect(fault?.message).toContain(message);
  });

  it('may still run after a short failure of the registry', () => {
    expect(startFault(waiting('ErrImagePull', 'i/o timeout'))).toBeUndefined();
    expect(startFault(waiting('ContainerCreating'))).toBeUndefined();
  });
});
