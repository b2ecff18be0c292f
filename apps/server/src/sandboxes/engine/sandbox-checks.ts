import { Injectable } from '@nestjs/common';
import { DockerClient } from '@belay/containers';
import { errorFrom, type Check } from '@belay/protocol';
import { Config } from '../../config.js';
import { Volumes } from './volumes.js';

/** Checks whether this machine can run sandboxes. */
@Injectable()
export class SandboxChecks {
  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly volumes: Volumes,
  ) {}

  async checks(): Promise<Check[]> {
    const engine = await check('Docker', 'Start Docker: sudo systemctl start docker.', async () => {
      await this.docker.ping();
      return `Running, ${await this.docker.cpus()} CPUs.`;
    });
    if (!engine.ok) return [engine];
    const { image, runtimeVolume } = this.config;
    return [
      engine,
      await check('Sandbox image', `Run npm start, or docker pull ${image}.`, async () => {
        if (!(await this.docker.hasImage(image))) throw new Error(`${image} is missing.`);
        return `${image} is available.`;
      }),
      await check('Agent runtime', 'Run npm start: it builds the runtime.', async () => {
        await this.volumes.runtime();
        return `The volume ${runtimeVolume} is available.`;
      }),
    ];
  }
}

async function check(name: string, remedy: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, detail: await look(), remedy: null };
  } catch (error) {
    return { name, ok: false, detail: errorFrom(error).message, remedy };
  }
}
