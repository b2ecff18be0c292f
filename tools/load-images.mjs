import { execFileSync } from 'node:child_process';

/**
 * Gives the cluster for tests these images, by the command in BELAY_TEST_CLUSTER_LOAD, such as “kind load docker-image”;
 * without it, its nodes have them or pull them.
 * @param {string[]} images
 */
export function loadImages(images, { BELAY_TEST_CLUSTER_LOAD: command } = process.env) {
  if (!command) return;
  const begin = performance.now();
  const options = { stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('sh', ['-c', `${command} "$@"`, 'sh', ...images], options);
  console.error(`✓ images in the cluster (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
}
