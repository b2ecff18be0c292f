import { join } from 'node:path';
import { isCheckout, root } from '../product-node.mjs';
import { prepareChromium } from './chromium.mjs';
import { prepareEngine } from './engine.mjs';
import { prepareRuntime, prepareSandboxImage, prepareTestImages } from './images.mjs';
import { preparePackages } from './packages.mjs';
import { preparePostgres } from './postgres.mjs';
import { Instruction, step } from './steps.mjs';

/** Makes this machine ready, each step only where something is missing; returns the product's environment. */
export async function prepareMachine({ install = true, tests = false } = {}) {
  // First what the user may have to fix; the rest takes minutes.
  const docker = await step('Docker Engine', (say) => prepareEngine(say, { install }));
  if (isCheckout) {
    await step('packages', preparePackages);
    await step('build', buildAll);
  }
  const image = await step('sandbox image', (say) => prepareSandboxImage(docker, say));
  const runtime = await step('runtime', (say) => prepareRuntime(docker, say));
  const environment = {
    DOCKER_HOST: docker.host,
    BELAY_RUNTIME: runtime,
    BELAY_SITE: join(root, 'apps/web/dist/site'),
    BELAY_EXAMPLES: join(root, 'examples'),
  };
  if (!tests) return { BELAY_IMAGE: image, ...environment };
  const bare = await step('test images', (say) => prepareTestImages(docker, say));
  const chromium = await step('Chromium', (say) => prepareChromium(say, { install }));
  const postgres = await step('PostgreSQL', (say) => preparePostgres(say, { install }));
  return {
    ...environment,
    BELAY_IMAGE: image,
    BELAY_TEST_POSTGRES: postgres,
    BELAY_TEST_IMAGE: image,
    BELAY_TEST_DEBIAN: bare.debian,
    BELAY_TEST_BUSYBOX: bare.busybox,
    CHROMIUM: chromium,
  };
}

/** Imported late: what it runs is only there after the packages. */
export async function buildAll() {
  const { build } = await import('../build.mjs');
  if (build({ quiet: true }) !== 0)
    throw new Instruction('The build failed with the output above. “npm run build” repeats it.');
}

/** Runs a command's main function: an instruction is printed as one sentence, without a stack. */
export async function runCommand(main) {
  try {
    assertNode(process.version);
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    console.error(`\n${error instanceof Instruction ? error.message : (error.stack ?? error)}`);
    process.exitCode = 1;
  }
}

/** Other versions of npm leave out packages that are made for one platform, without an error. */
export function assertNode(version) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  const fits = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
  if (fits) return;
  throw new Instruction(
    `Belay needs Node 20.19, 22.12 or newer to install its packages, and this is ${version}: get one from https://nodejs.org/download and run this again.`,
  );
}
