import { errorFrom, type Check } from '@belay/protocol';
import type { DockerClient } from './docker.client.js';

/** Whether the engine can run containers: the first check is whether it responds. */
export async function engineChecks(
  docker: DockerClient,
  {
    image,
    runtime,
    runtimeImage,
  }: { image: string; runtime: string; runtimeImage(): Promise<string> },
): Promise<Check[]> {
  const engine = await check('Docker', 'Start Docker: sudo systemctl start docker.', async () => {
    await docker.ping();
    return `Running, ${await docker.cpus()} CPUs.`;
  });
  if (!engine.ok) return [engine];
  return [
    engine,
    await check('Sandbox image', `Run npm start, or docker pull ${image}.`, async () => {
      if (!(await docker.hasImage(image))) throw new Error(`${image} is missing.`);
      return `${image} is available.`;
    }),
    await check('Agent runtime', 'Run npm start: it builds the runtime.', async () => {
      await runtimeImage();
      return `The volume ${runtime} is available.`;
    }),
  ];
}

async function check(name: string, remedy: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, detail: await look(), remedy: null };
  } catch (error) {
    return { name, ok: false, detail: errorFrom(error).message, remedy };
  }
}
