import { join } from 'node:path';
import { cacheFolder, isCheckout, root } from '../product-node.mjs';
import { prepareChromium } from './chromium.mjs';
import { assertEngine, prepareEngine } from './engine.mjs';
import {
  prepareRuntime,
  prepareSandboxImage,
  prepareSystemImage,
  prepareTestImages,
  runtimeImage,
} from './images.mjs';
import { preparePackages } from './packages.mjs';
import { preparePostgres } from './postgres.mjs';
import { Instruction, step } from './steps.mjs';

/**
 * Prepares this machine, doing only what is missing; returns the product’s environment. Without `engine`, that is the
 * product alone, for a server whose sandboxes are elsewhere.
 */
export async function prepareMachine({ install = true, tests = false, engine = true } = {}) {
  if (!engine) {
    await prepareBuild().built;
    return productFiles();
  }
  // Problems that the user has to fix are reported first; the rest takes minutes.
  await assertEngine({ install });
  const docker = step('Docker Engine', (say) => prepareEngine(say, { install }));
  const product = prepareProduct(docker);
  const steps = tests ? [product, ...prepareTests({ docker, product, install })] : [product];
  return Object.assign({}, ...(await allEnded(steps)));
}

/**
 * Prepares packages and build in parallel with engine and images; each step waits only for what it
 * needs.
 */
async function prepareProduct(docker) {
  const image = (name, prepare, ...needed) =>
    Promise.all([docker, ...needed]).then(([engine]) => step(name, (say) => prepare(engine, say)));
  const { packages, built } = prepareBuild();
  const system = image('system image', prepareSystemImage);
  const sandbox = image('sandbox image', prepareSandboxImage, system, packages);
  const runtime = image('runtime', prepareRuntime, system, built);
  const ended = await allEnded([docker, sandbox, runtime, packages, built]);
  return {
    DOCKER_HOST: ended[0].host,
    BELAY_IMAGE: ended[1],
    BELAY_RUNTIME: ended[2],
    BELAY_RUNTIME_IMAGE: runtimeImage(),
    ...productFiles(),
  };
}

/** A package that is installed has both already. */
function prepareBuild() {
  const packages = isCheckout ? step('packages', preparePackages) : Promise.resolve();
  const built = packages.then(() => (isCheckout ? step('build', buildAll) : undefined));
  return { packages, built };
}

const productFiles = () => ({
  BELAY_SITE: join(root, 'apps/web/dist/site'),
  BELAY_EXAMPLES: join(root, 'examples'),
  BELAY_CLI: join(root, 'apps/cli/bin/belay.mjs'),
  // Keeps compiled code between starts of the server and the command line.
  NODE_COMPILE_CACHE: join(cacheFolder, 'belay-compile'),
});

/** The additional environment of the tests. */
function prepareTests({ docker, product, install }) {
  return [
    Promise.all([docker, product]).then(async ([engine, { BELAY_IMAGE }]) => {
      const bare = await step('test images', (say) => prepareTestImages(engine, say));
      return {
        BELAY_TEST_IMAGE: BELAY_IMAGE,
        BELAY_TEST_DEBIAN: bare.debian,
        BELAY_TEST_BUSYBOX: bare.busybox,
      };
    }),
    step('Chromium', (say) => prepareChromium(say, { install })),
    step('PostgreSQL', (say) => preparePostgres(say, { install })).then((folder) => ({
      BELAY_TEST_POSTGRES: folder,
    })),
  ];
}

/**
 * The results of all, or the first error once all have ended, so that nothing keeps running after
 * the error message.
 */
export async function allEnded(works) {
  const settled = await Promise.allSettled(works);
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  return settled.map(({ value }) => value);
}

/** Imported here because it needs the installed packages. */
export async function buildAll() {
  const { build } = await import('../build.mjs');
  if ((await build({ quiet: true })) !== 0)
    throw new Instruction('The build failed with the output above. “npm run build” repeats it.');
}

/** Runs a command’s main function. An instruction is printed as one sentence, without a stack. */
export async function runCommand(main) {
  try {
    assertNode(process.version);
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    console.error(`\n${isForUser(error) ? error.message : (error.stack ?? error)}`);
    process.exitCode = 1;
  }
}

/** Whether the message alone says what to do, as those of `parseArgs` about wrong options do. */
const isForUser = (error) =>
  error instanceof Instruction || String(error?.code).startsWith('ERR_PARSE_ARGS_');

/** The npm of other Node versions silently skips packages for specific platforms. */
export function assertNode(version) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  const fits = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
  if (fits) return;
  throw new Instruction(
    `Belay needs Node 20.19, 22.12 or newer to install its packages, and this is ${version}: get one from https://nodejs.org/download and run this again.`,
  );
}
