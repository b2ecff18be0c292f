import { setTimeout as delay } from 'node:timers/promises';
import type { DockerClient } from '@belay/docker';
import { ignoreError } from '@belay/protocol';

const checkMs = 1_000;

interface Watch {
  mebibytes: number;
  /** Called once, when it is too much. */
  exceeded(): void;
  signal: AbortSignal;
}

/** The layer of a container has no limit of the engine’s: what it writes there is looked at. Never rejects. */
export async function watchWritten(
  docker: DockerClient,
  container: string,
  { mebibytes, exceeded, signal }: Watch,
): Promise<void> {
  while (!signal.aborted) {
    await delay(checkMs, undefined, { signal, ref: false }).catch(ignoreError('it has ended'));
    if (signal.aborted) return;
    const bytes = await docker.writtenBytes(container).catch(() => 0);
    if (bytes > mebibytes * 2 ** 20) return exceeded();
  }
}
