import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { AppError, visibleText } from '@belay/protocol';
import type { Look, SeenState } from '../container-host.js';
import { exitReason, type Exit, type ExitReasonOptions } from '../exit-reason.js';
import { pullFault } from '../docker/errors.js';
import { isLost } from './is-lost.js';
import { keys } from './names.js';
import { firstContainer } from './pod-parts.js';

/** The state of a pod’s first container. */
export function stateOf(pod: V1Pod): SeenState {
  const state = firstOf(pod)?.state;
  if (state?.terminated || isOver(pod)) return 'ended';
  return state?.running ? 'running' : 'waiting';
}

/** Null for `sandbox` for a pod of programs. */
export function lookAtPod(pod: V1Pod | undefined, sandbox: ExitReasonOptions | null): Look {
  if (!pod) return { state: 'gone', why: exitReason(undefined, sandbox), cause: null };
  const state = stateOf(pod);
  if (state !== 'ended') return { state, why: null, cause: null };
  const fault = faultOfPod(pod, sandbox ? 'The sandbox' : 'The container');
  if (fault) return { state, ...fault };
  const exit = exitOf(pod);
  return { state, why: exitReason(exit, sandbox), cause: exit?.outOfMemory ? 'memory' : null };
}

/** The id of the image that the first container runs; changes with the image’s content. */
export const imageOf = (pod: V1Pod): string | undefined => firstOf(pod)?.imageID || undefined;

/** The image that the first container runs, by its digest; undefined where no registry knows that. */
export const pinnedImageOf = (pod: V1Pod): string | undefined =>
  /^(?:[\w-]+:\/\/)?(\S+@sha256:[0-9a-f]{64})$/.exec(firstOf(pod)?.imageID ?? '')?.[1];

/** The exit code of the first container; undefined while it has none. */
export const exitCodeOfPod = (pod: V1Pod): number | undefined =>
  firstOf(pod)?.state?.terminated?.exitCode;

/** Why a pod will not run although it was accepted; undefined while it may, or does. `not_found` for an image. */
export function startFault(pod: V1Pod): AppError | undefined {
  const { initContainerStatuses: before = [], containerStatuses: own = [] } = pod.status ?? {};
  for (const { image, state } of [...before, ...own]) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (isPullFault(reason, message))
      return new AppError(
        'not_found',
        `Kubernetes cannot pull the image ${image}: ${pullFault(message)}`,
      );
    if (createFaults.has(reason))
      return new AppError('unavailable', `The container could not run: ${oneLine(message)}.`);
  }
  return undefined;
}

/** Whether what runs before the containers has failed. */
export const isUnprepared = ({ status }: V1Pod): boolean =>
  status?.initContainerStatuses?.some(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0) ??
  false;

/** The scheduler’s words for a pod that no node takes; undefined for one that has a node. */
export function withoutNode(pod: V1Pod): string | undefined {
  const words = schedulerWords(pod);
  return words === undefined ? undefined : oneLine(words);
}

/** Like `withoutNode`, as they came. */
export function schedulerWords(pod: V1Pod): string | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.reason === 'Unschedulable' ? (scheduled.message ?? '') : undefined;
}

/** The registry’s own words may be of a short failure; these are not. */
const lasting = /not found|not known|manifest unknown|does not exist|denied|unauthorized/i;
const createFaults: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

const isPullFault = (reason: string, message: string): boolean =>
  ['ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName'].includes(reason) ||
  (reason === 'ErrImagePull' && lasting.test(message));

const firstOf = ({ status }: V1Pod): V1ContainerStatus | undefined =>
  status?.containerStatuses?.find(({ name }) => name === firstContainer);

const isOver = (pod: V1Pod): boolean =>
  pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded' || isLost(pod);

/** What was done to a pod as a whole. */
function faultOfPod(pod: V1Pod, what: string): Pick<Look, 'why' | 'cause'> | undefined {
  if (pod.status?.reason === 'Evicted') return evicted(pod, what);
  const because = (why: string) => ({ why: `${what} was ${why}.`, cause: null });
  if (isLost(pod)) return because('ended because its node does not respond');
  if (pod.status?.conditions?.some(({ type }) => type === 'DisruptionTarget'))
    return because('ended because its node is needed otherwise');
  if (pod.metadata?.deletionTimestamp) return because('deleted in the cluster');
  return undefined;
}

/** By its node: for what it wrote itself, or because the node lacks something. */
function evicted({ status, metadata }: V1Pod, what: string): Pick<Look, 'why' | 'cause'> {
  const words = oneLine(status?.message ?? '');
  const isOwn = /ephemeral|emptydir/i.test(words) && !/node was low/i.test(words);
  if (!isOwn) return { why: `${what} was evicted: ${words}.`, cause: null };
  const mb = metadata?.labels?.[keys.written];
  const why = mb === undefined ? `${what} wrote too much: ${words}.` : wroteMore(mb);
  return { why, cause: 'written' };
}

const wroteMore = (mb: string): string => `It wrote more than ${mb} MiB.`;

function exitOf(pod: V1Pod): Exit | undefined {
  const ended = firstOf(pod)?.state?.terminated;
  if (!ended) return undefined;
  const limits = pod.spec?.containers.find(({ name }) => name === firstContainer)?.resources;
  const { exitCode: code, reason, message } = ended;
  return {
    code,
    // The reason stays when one of its other processes was killed for memory before.
    outOfMemory: reason === 'OOMKilled' && code === killedCode,
    error: reason === 'StartError' ? oneLine(message ?? '') : '',
    memoryMb: Number.parseInt(limits?.limits?.['memory'] ?? '0', 10),
  };
}

const killedCode = 137;
const maxWords = 300;

const oneLine = (text: string): string =>
  visibleText(text.replaceAll(/\s+/g, ' ')).trim().slice(0, maxWords).replace(/\.$/, '');
