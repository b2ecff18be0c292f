import type { SecondEngine } from '@belay/testkit';
import { Docker } from './prepare/docker-api.mjs';
import { prepareRuntime } from './prepare/images.mjs';

/** Copies the agent’s runtime from the machine’s engine; returns the volume’s name. */
export async function copyRuntime(engine: SecondEngine, volume: string): Promise<string> {
  await engine.copyImage(volume.replace(/^belay-runtime-(\w+).*$/, 'belay/runtime:$1'));
  return prepareRuntime(new Docker(engine.host), () => {});
}
