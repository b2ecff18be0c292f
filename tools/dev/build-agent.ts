import { join } from 'node:path';
import { Docker } from '../prepare/docker-api.mjs';
import { prepareRuntime } from '../prepare/images.mjs';
import { runProgram } from '../prepare/run-program.mjs';
import { step } from '../prepare/steps.mjs';
import { root } from '../product-node.mjs';

/** Bundles the agent from its sources; resolves to the volume with it, which new sandboxes use. */
export async function buildAgent(dockerHost: string): Promise<string> {
  return step('agent', async (say) => {
    await runProgram(process.execPath, [join(root, 'tools/bundle.ts'), 'agent'], { cwd: root });
    return prepareRuntime(new Docker(dockerHost), say);
  });
}
