import type { V1Pod } from '@kubernetes/client-node';
import type { OthersAlive, Seen } from '../container-host.js';
import type { Cluster } from './cluster.js';
import { keys } from './names.js';
import { stateOf } from './pod-state.js';

interface WatchedPods {
  instance: string;
  /** Whether this process uses a pod that a host has made for itself. */
  isUsed(id: string): boolean;
  others: OthersAlive | undefined;
}

/** The containers of a host, then their changes. Removes pods that processes before have made for themselves. */
export async function* watchPods(
  cluster: Cluster,
  { instance, isUsed, others }: WatchedPods,
  signal: AbortSignal,
): AsyncIterable<Seen | 'synced'> {
  const selector = `${keys.instance}=${instance},${keys.container}`;
  const listed = await cluster.pods(selector);
  const { pods } = listed;
  // Asked after they were listed: a server is known before it makes anything.
  const alive = await others?.();
  const isLeft = (pod: V1Pod): boolean =>
    isOwn(pod) && !isUsed(idOf(pod)) && !alive?.has(serverOf(pod) ?? '');
  for (const pod of pods) if (isLeft(pod)) await cluster.removePod(pod.metadata?.name ?? '');
  const ended = new Set<string>();
  for (const pod of pods.filter((one) => !isOwn(one))) {
    const seen = {
      id: idOf(pod),
      state: stateOf(pod),
      server: serverOf(pod),
      label: pod.metadata?.annotations?.[keys.label],
    };
    if (seen.state === 'ended') ended.add(seen.id);
    yield seen;
  }
  yield 'synced';
  for await (const { pod, isDeleted } of cluster.changes(selector, listed, signal)) {
    const id = idOf(pod);
    if (isOwn(pod)) continue;
    if (isDeleted) yield { id, state: 'gone' };
    else if (stateOf(pod) === 'ended' && !ended.has(id)) {
      ended.add(id);
      yield { id, state: 'ended' };
    }
  }
}

const isOwn = ({ metadata }: V1Pod): boolean => metadata?.labels?.[keys.own] !== undefined;

const idOf = ({ metadata }: V1Pod): string => metadata?.labels?.[keys.container] ?? '';

const serverOf = ({ metadata }: V1Pod): string | undefined => metadata?.labels?.[keys.server];
