import { z } from 'zod';
import type { AgentEnvironment } from '../environment.js';
import { mountPoints } from '../layers/mount-points.js';
import { unpacking, unpackLayers } from '../layers/unpack-layers.js';
import { changeTimesOf, layerSince } from '../layers/write-layer.js';
import { sendLayer } from './send-layer.js';

const begun = unpacking.extend({
  /** How much may differ at the end. */
  keptMb: z.number(),
});

/**
 * Looks at the image’s files as they are now, then unpacks the layers of a build over them; the returned function sends
 * what differs later to the host, with what was unpacked.
 */
export async function changesFromNow(
  build: string,
  to: AgentEnvironment,
): Promise<() => Promise<void>> {
  const { keptMb, ...unpacked } = begun.parse(JSON.parse(build));
  const files = { root: '/', mounted: mountPoints() };
  const before = changeTimesOf(files);
  await unpackLayers(unpacked);
  return () => sendLayer(layerSince(before, { ...files, maxBytes: keptMb * 2 ** 20 }), to);
}
