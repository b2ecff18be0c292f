import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Limits } from '@belay/containers';
import { AppError, type PlaceCapacity } from '@belay/protocol';
import { z } from 'zod';

export interface ContainerSettings {
  dockerHost: string;
  /** The image for sessions that name none. */
  image: string;
  /** Others that the server may use, with `*` for any characters. */
  allowedImages: readonly string[];
  /** The volume with the agent. */
  runtime: string;
  limits: Limits;
  capacity: PlaceCapacity;
}

const prepared = z.object({ dockerHost: z.string(), image: z.string(), runtime: z.string() });
const failed = z.object({ error: z.string() });

/**
 * Prepares this machine for containers of agents, as far as necessary; slow steps are reported on standard error.
 * Throws `unavailable` with a remedy.
 */
export async function prepareContainers({
  image,
  allowedImages = [],
  memory = 2048,
  cpus = 2,
  maxSandboxes,
}: {
  image?: string | undefined;
  allowedImages?: readonly string[] | undefined;
  memory?: number | undefined;
  cpus?: number | undefined;
  maxSandboxes?: number | undefined;
}): Promise<ContainerSettings> {
  // The bundle is as deep as this file.
  const script = join(__dirname, '../../../../tools/prepare/containers.mjs');
  if (!existsSync(script))
    throw new AppError(
      'unavailable',
      'This installation of belay cannot make containers. Install it again.',
    );
  const args = [script, ...(image === undefined ? [] : [image])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = (await text(child.stdout)).trim().split('\n').at(-1) ?? '';
  const reply = parsed(line);
  const made = prepared.safeParse(reply);
  if (made.success) {
    const limits = { memoryMb: memory, cpus };
    const images = [...(image === undefined ? [] : [image]), ...allowedImages];
    const capacity = { ...capacityFor(limits, maxSandboxes), images };
    return { ...made.data, allowedImages, limits, capacity };
  }
  const why = failed.safeParse(reply).data?.error ?? 'Preparing this machine failed, see above.';
  throw new AppError(
    'unavailable',
    `${why} Without --container, this machine joins bare and nothing is confined.`,
  );
}

/** As many sandboxes as the memory of this machine holds, unless its user gives a number. */
function capacityFor(
  { memoryMb: each }: Limits,
  wanted: number | undefined,
): Omit<PlaceCapacity, 'images'> {
  const memoryMb = Math.floor(totalmem() / 2 ** 20);
  const sandboxes = wanted ?? Math.max(1, Math.floor(memoryMb / each));
  return { sandboxes: Math.min(sandboxes, mostSandboxes), memoryMb, cpus: availableParallelism() };
}

const mostSandboxes = 10_000;

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
