// npm run pack: builds what changed and creates dist/belay-VERSION.tgz, for `npm install --global`.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAll, runCommand } from './prepare/machine.mjs';
import { preparePackages } from './prepare/packages.mjs';
import { runProgram } from './prepare/run-program.mjs';
import { step } from './prepare/steps.mjs';
import { root } from './product-node.mjs';

/** Files that run from the package as from a checkout, at the same paths. */
const parts = [
  'LICENSE',
  'README.md',
  'apps/agent/dist/bundle',
  'apps/cli/bin',
  'apps/cli/dist/bundle',
  'apps/server/dist/bundle',
  'apps/server/node-arguments.json',
  'apps/web/dist/site',
  'docker',
  'examples',
  'tools/prepare',
  'tools/product-node.mjs',
  'tools/running-server.mjs',
  'tools/start-in-background.mjs',
  'tools/start-options.mjs',
  'tools/start.mjs',
];

/** Packs the built product; returns the path of the archive. */
export async function packProduct() {
  const folder = join(root, 'dist');
  const staged = join(folder, 'package');
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });
  for (const part of parts)
    cpSync(join(root, part), join(staged, part), { recursive: true, filter: isShipped });
  const description = descriptionOfPackage();
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
  await runProgram('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: staged });
  rmSync(staged, { recursive: true });
  return join(folder, `${description.name}-${description.version}.tgz`);
}

const isShipped = (path) => !/\.spec\.mjs$|\.(cjs|js)\.map$/.test(path);

/** All other dependencies are in the bundles. npm skips packages for other platforms. */
function descriptionOfPackage() {
  const { name, version, description, license, engines, optionalDependencies } = json('.');
  const { koffi } = json('apps/agent').dependencies;
  const koffis = ['linux-x64', 'linux-arm64'].map((platform) => [
    `@koromix/koffi-${platform}`,
    koffi,
  ]);
  return {
    name,
    version,
    description,
    license,
    private: true,
    engines,
    bin: { belay: 'apps/cli/bin/belay' },
    dependencies: unbundled(json('apps/server').dependencies),
    optionalDependencies: { ...optionalDependencies, ...Object.fromEntries(koffis) },
  };
}

/**
 * What the server’s bundle loads from packages: a native part, and files that are served as they
 * are.
 */
const unbundled = (all) =>
  Object.fromEntries(['better-sqlite3', 'swagger-ui-dist'].map((name) => [name, all[name]]));

const json = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

if (process.argv[1] === fileURLToPath(import.meta.url))
  await runCommand(async () => {
    await step('packages', preparePackages);
    await step('build', buildAll);
    console.log(await step('package', packProduct));
  });
