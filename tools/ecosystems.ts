import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownAddress, privateCertificate, setUp } from './ecosystems/private-host.ts';
import { startRegistries } from './ecosystems/registries.ts';
import { Docker } from './prepare/docker-api.mjs';
import { hostSettings } from './prepare/host-settings.mjs';
import { prepareEcosystemsImage } from './prepare/images.mjs';
import { prepareMachine, runCommand } from './prepare/machine.mjs';
import { step } from './prepare/steps.mjs';
import { productEnvironment } from './product-node.mjs';

// npm run test:ecosystems: installs with pip, cargo and go from private registries through the
// proxy, as on a host that is configured for them and has a private CA. Not a part of npm test,
// because cargo and go are large and it takes minutes.
await runCommand(async () => {
  const environment = await prepareMachine({ tests: true });
  Object.assign(process.env, productEnvironment(environment));
  const root = mkdtempSync(join(tmpdir(), 'belay-ecosystems-'));
  try {
    return await onPrivateHost(root, environment);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

async function onPrivateHost(
  root: string,
  environment: Awaited<ReturnType<typeof prepareMachine>>,
): Promise<number> {
  const address = ownAddress();
  const registries = await startRegistries({
    host: address,
    ...(await privateCertificate(root, address)),
  });
  const docker = new Docker(environment.DOCKER_HOST);
  setUp(root, registries.url);
  const settings = hostSettings({ env: {}, home: '/home', at: root });
  const image = await step('image with cargo and go', (say) =>
    prepareEcosystemsImage(docker, settings, say),
  );
  try {
    // Imported here because it needs the built product.
    const { installAll } = await import('./ecosystems/install.ts');
    return await installAll({ registries, image, home: join(root, 'home') });
  } finally {
    await docker.remove(`/images/${image}?force=1`);
    await registries.close();
  }
}
