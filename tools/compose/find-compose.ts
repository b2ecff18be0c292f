import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../prepare/run-program.mjs';
import { newerDebian } from './newer-debian.ts';

/**
 * The variables with which `docker compose` runs: none if this machine has it; otherwise, those for Debian’s plugin.
 */
export async function findCompose(say: (what: string) => void): Promise<Record<string, string>> {
  const found = await runProgram('docker', ['compose', 'version']).then(
    () => true,
    () => false,
  );
  if (found) return {};
  const unpacked = await newerDebian('docker-compose', say);
  const plugins = join(unpacked, 'config/cli-plugins');
  const plugin = join(plugins, 'docker-compose');
  mkdirSync(plugins, { recursive: true });
  if (!existsSync(plugin))
    symlinkSync(join(unpacked, 'usr/libexec/docker/cli-plugins/docker-compose'), plugin);
  // The classic builder is in every engine; buildx would be another package.
  return { DOCKER_CONFIG: join(unpacked, 'config'), DOCKER_BUILDKIT: '0' };
}
