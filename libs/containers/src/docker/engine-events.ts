import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { z } from 'zod';

export interface EngineEvent {
  action: string;
  container: string;
  labels: Record<string, string>;
}

/** Ends with its stream, without an error. */
export async function* readEvents(stream: Readable): AsyncIterable<EngineEvent> {
  if (stream.destroyed) return;
  const lines = createInterface({ input: stream, crlfDelay: Infinity });
  // The lines of a destroyed stream would never end on their own.
  stream.once('close', () => lines.close());
  for await (const line of lines) {
    const event = engineEvent.safeParse(JSON.parse(line));
    if (!event.success) continue;
    const { Action, Actor } = event.data;
    yield { action: Action, container: Actor.ID, labels: Actor.Attributes };
  }
}

const engineEvent = z.object({
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()).default({}) }),
});
