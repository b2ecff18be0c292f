import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { readEvents } from './engine-events.js';

/** How long before and after a container’s end the engine may report that it ran out of memory. */
const beforeMs = 2_000;
const afterMs = 500;

/**
 * Whether the engine saw the container run out of memory at its very end. Its own flag `OOMKilled` says only that some
 * process of the container was killed for that at any time. False if the engine does not say.
 */
export async function endedOutOfMemory(
  docker: Docker,
  container: string,
  { OOMKilled, FinishedAt }: Docker.ContainerInspectInfo['State'],
): Promise<boolean> {
  if (!OOMKilled) return false;
  const end = Date.parse(FinishedAt);
  try {
    const stream = (await docker.getEvents({
      since: (end - beforeMs) / 1000,
      until: (end + afterMs) / 1000,
      filters: { type: ['container'], container: [container], event: ['oom'] },
    })) as Readable;
    for await (const { action } of readEvents(stream)) if (action === 'oom') return true;
  } catch {
    // Nobody is told of a cause that was not seen.
  }
  return false;
}
