import { setTimeout as delay } from 'node:timers/promises';
import { errorFrom, ignoreError, type AppError } from '@belay/protocol';
import type { ContainerHost, Seen } from './container-host.js';

export interface HostFollower {
  signal: AbortSignal;
  /**
   * Gets all containers: at first, and again after the host was away. While it rejects, the host counts as away, and it
   * is called again.
   */
  synced(found: readonly Seen[]): Promise<void>;
  changed(seen: Seen): void;
  /** Called once when the host goes away, or is not there at first. */
  away(error: AppError): void;
  back(): void;
}

/** The delay before a host that went away is asked again; it doubles while the host is away. */
const firstRetryDelayMs = 200;
const maxRetryDelayMs = 2_000;

/** Follows the containers of a host until the signal aborts. Never rejects. */
export async function followHost(host: ContainerHost, follower: HostFollower): Promise<void> {
  const { signal } = follower;
  let pauseMs = firstRetryDelayMs;
  let isAway = false;
  while (!signal.aborted) {
    try {
      const found: Seen[] = [];
      let isSynced = false;
      for await (const seen of host.watch(signal)) {
        if (seen === 'synced') {
          await follower.synced(found);
          isSynced = true;
          pauseMs = firstRetryDelayMs;
          if (isAway) follower.back();
          isAway = false;
        } else if (isSynced) follower.changed(seen);
        else found.push(seen);
      }
    } catch (error) {
      if (!isAway && !signal.aborted) follower.away(errorFrom(error));
      isAway = true;
    }
    await delay(pauseMs, undefined, { signal, ref: false }).catch(ignoreError('nobody follows'));
    pauseMs = Math.min(2 * pauseMs, maxRetryDelayMs);
  }
}
