import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findCompose } from './compose/find-compose.ts';
import { newerDebian } from './compose/newer-debian.ts';
import { Docker } from './prepare/docker-api.mjs';
import { preparePostgresImage } from './prepare/images.mjs';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { step } from './prepare/steps.mjs';
import { productEnvironment } from './product-node.mjs';

const usage = `Usage: npm run test:compose

  Builds docker/server/Dockerfile from this checkout, starts docker/compose.yaml with ports, volumes and sandboxes of
  its own, follows docs/docker.md, and kills and replaces the server while a session works; and has an Engine 26 mount
  sockets as it does. That engine, and Docker Compose if this machine has none, come from Debian's packages, and so do
  the base images, because a test needs no hub. Requires root on Debian.`;

// Not a part of npm test, because it packs and builds the product in a container, which takes minutes.
await runCommand(async () => {
  if (parseArgs({ options: { help: { type: 'boolean', short: 'h' } } }).values.help) {
    console.log(usage);
    return 0;
  }
  const compose = await step('Docker Compose', findCompose);
  const environment = await prepareMachine();
  Object.assign(process.env, productEnvironment(environment));
  const { DOCKER_HOST: dockerHost, BELAY_IMAGE: node, BELAY_RUNTIME: runtime } = environment;
  const postgres = await step('PostgreSQL image', (say) =>
    preparePostgresImage(new Docker(dockerHost), say),
  );
  const engine = await step('Engine 26', (say) => newerDebian('docker.io', say));
  // Imported here because they need the built product.
  const { ComposedBelay } = await import('./compose/composed-belay.ts');
  const { testComposed } = await import('./compose/test-composed.ts');
  const { testMountedParts } = await import('./compose/test-mounted-parts.ts');
  const folder = mkdtempSync(join(tmpdir(), 'belay-compose-'));
  const belay = new ComposedBelay(folder, { compose, dockerHost, images: { node, postgres } });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void belay.remove().finally(() => process.exit(1)));
  try {
    await step('parts of a volume, on Engine 26', () =>
      testMountedParts({ dockerd: join(engine, 'usr/sbin/dockerd') }, runtime),
    );
    await step('image of the server', () => belay.build());
    await testComposed(belay);
    return 0;
  } catch (error) {
    console.error(await belay.compose('logs', '--tail', '50'));
    throw error;
  } finally {
    await step('removal', () => belay.remove());
    rmSync(folder, { recursive: true, force: true });
  }
});
