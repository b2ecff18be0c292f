import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageFolder, root } from '../product-node.mjs';
import { hostSettings } from './host-settings.mjs';
import { runProgram } from './run-program.mjs';
import { Instruction } from './steps.mjs';

const npmVersion = '11.6.2';
const platform = `${process.platform}-${process.arch}`;

/** Debian with the programs that other images use. In contrast to those it needs no npm package. */
export const systemSpec = () => spec('belay/system', 'system', { files: hostSettings() });

/**
 * All other images: the image that each is built `from` (if none, plain Debian), the small `files`
 * that its tag is a hash of, and `large`, which fetches the big parts (in the tag by version) only
 * for a build.
 */
export function imageSpecs() {
  const from = systemSpec();
  const settings = hostSettings();
  const nodePackage = `node-${platform}`;
  const koffiPackage = `@koromix/koffi-${platform}`;
  const node = join(folderOf(nodePackage), 'bin/node');
  const versions = [nodePackage, koffiPackage].map(versionOf);
  return {
    runtimeBase: spec('belay/runtime-base', 'runtime', {
      from,
      offline: true,
      versions,
      large: async () => [
        { path: 'bin/node', from: node },
        {
          path: 'bin/koffi.node',
          from: join(folderOf(koffiPackage), `linux_${process.arch}/koffi.node`),
        },
      ],
    }),
    sandbox: spec('belay/sandbox', 'sandbox', {
      from,
      offline: true,
      files: settings,
      versions: [versions[0], `npm@${npmVersion}`],
      large: async (folder) => [
        { path: 'node/bin/node', from: node },
        { path: 'node/lib/node_modules/npm', from: await fetchNpm(folder) },
      ],
    }),
    debian: spec('belay/test-debian', 'bare-debian'),
    busybox: spec('belay/test-busybox', 'bare-busybox', { from }),
    postgres: spec('belay/test-postgres', 'postgres', { from }),
  };
}

/**
 * For the long test of package managers: the sandbox’s image `from` with cargo, go and the settings
 * of a host.
 */
export const ecosystemsSpec = (settings, from) =>
  spec('belay/test-ecosystems', 'ecosystems', { from, files: settings });

/** The runtime image: its base and the agent’s bundle, whose content is part of the tag. */
export function runtimeSpec(from) {
  const bundle = join(root, 'apps/agent/dist/bundle');
  const files = [
    ...readdirSync(bundle).map((name) => ({
      path: `agent/${name}`,
      content: readFileSync(join(bundle, name)),
    })),
    ...filesIn('agent'),
  ];
  const hash = hashOf({ files, versions: [from.tag] });
  const large = async () => [];
  return { tag: `belay/runtime:${hash}`, hash, from, files, large, offline: true };
}

/** `offline`: built without a network. */
function spec(repository, folder, given = {}) {
  const { from, files = [], versions = [], large = async () => [], offline = false } = given;
  const all = [...filesIn(folder), ...files];
  const hash = hashOf({ files: all, versions: from ? [from.tag, ...versions] : versions });
  return { tag: `${repository}:${hash}`, from, files: all, large, offline };
}

function filesIn(folder) {
  const path = join(root, 'docker', folder);
  return readdirSync(path).map((name) => ({
    path: name,
    content: readFileSync(join(path, name)),
  }));
}

export function hashOf({ files, versions = [] }) {
  const hash = createHash('sha256').update(JSON.stringify([process.arch, ...versions]));
  for (const { path, content } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
    hash.update(`\0${path}\0${Buffer.byteLength(content)}\0`).update(content);
  return hash.digest('hex').slice(0, 12);
}

function versionOf(name) {
  const { version } = JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8'));
  return `${name}@${version}`;
}

function folderOf(name) {
  const folder = packageFolder(name);
  if (folder) return folder;
  throw new Instruction(
    `The package ${name} is not installed. Install Belay again, with optional packages.`,
  );
}

/** Fetches npm from the registry that this machine is configured for. */
async function fetchNpm(folder) {
  await runProgram('npm', ['pack', `npm@${npmVersion}`, '--silent', '--pack-destination', folder]);
  await runProgram('tar', ['-xzf', join(folder, `npm-${npmVersion}.tgz`), '-C', folder]);
  return join(folder, 'package');
}

export async function withTemporaryFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'belay-image-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
