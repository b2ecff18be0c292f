import { z } from 'zod';
import { unpacking, unpackLayers } from './unpack-layers.js';

/** The argument of this program, as JSON: see `unpackingCommand` in libs/containers. */
const begun = unpacking.extend({
  /** Whom the command runs as; null for root as it is now. */
  user: z.int().nullable(),
  command: z.tuple([z.string()], z.string()),
});

/**
 * Unpacks layers over the image of its container, then becomes the program that the container is for. Nothing of the
 * image has run before.
 */
async function main(): Promise<void> {
  const { user, command, ...layers } = begun.parse(JSON.parse(process.argv[2] ?? ''));
  await unpackLayers(layers);
  if (user !== null) {
    process.setgroups?.([]);
    process.setgid?.(user);
    process.setuid?.(user);
  }
  process.execve?.(command[0], command);
}

main().catch((error: Error) => {
  process.stderr.write(`Belay: the image could not be made: ${error.message}\n`);
  process.exitCode = 1;
});
