import { setTimeout as delay } from 'node:timers/promises';
import type { DockerClient } from '@belay/containers';
import { ignoreError } from '@belay/protocol';

const checkMs = 1_000;

interface Watch {
  mebibytes: number;
  /** Called once, when the limit is exceeded. */
  exceeded(): void;
  signal: AbortSignal;
}

/** Watches the size of a container’s writable layer, which the engine does not limit. Never rejects. */
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
