import { arch, cpus, hostname, platform, release, totalmem } from 'node:os';
import type { TaskEngine } from '@belay/containers';
import { z } from 'zod';
import { belayVersion } from '@belay/protocol';

/** What a score depends on besides data and agent, recorded when the run begins. */
export const provenance = z.object({
  version: z.string(),
  node: z.string(),
  host: z.object({
    name: z.string(),
    system: z.string(),
    processor: z.string(),
    cpus: z.int(),
    memoryMb: z.int(),
  }),
  engine: z.string(),
});
export type Provenance = z.infer<typeof provenance>;

export async function provenanceOf(engine: TaskEngine): Promise<Provenance> {
  const all = cpus();
  return {
    version: belayVersion,
    node: process.version,
    host: {
      name: hostname(),
      system: `${platform()} ${release()} ${arch()}`,
      processor: all[0]?.model ?? '',
      cpus: all.length,
      memoryMb: Math.round(totalmem() / 2 ** 20),
    },
    engine: await engine.version(),
  };
}
