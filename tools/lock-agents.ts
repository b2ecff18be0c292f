import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './product-node.mjs';

// npm run lock-agents -- [NAME…]: writes apps/server/src/agents/locks/NAME.json anew. In such a file, `roots` and
// `platforms` are written by hand: the program and what it is installed with, such as an ACP adapter, with their
// versions, and the packages for one processor, with the C libraries that they run on. The rest follows from the npm
// registry that this machine is configured for. Review what changed: these packages run in sandboxes.

interface Lock {
  roots: Record<string, string>;
  platforms: Record<string, { libc: string[] }>;
  packages: LockedPackage[];
}

interface LockedPackage {
  path: string;
  name: string;
  version: string;
  integrity: string;
  size: number;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

/** What npm writes about a package in `package-lock.json`, by its folder. */
interface NpmPackage {
  name?: string;
  version: string;
  resolved: string;
  integrity: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
}

const folder = join(root, 'apps/server/src/agents/locks');
const known = readdirSync(folder).map((file) => file.replace(/\.json$/, ''));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no lock of ${unknown.join(', ')}. Known are ${known.join(', ')}.`);
  process.exit(2);
}
for (const name of wanted.length > 0 ? wanted : known) await lock(name);

async function lock(name: string): Promise<void> {
  const file = join(folder, `${name}.json`);
  const { roots, platforms } = JSON.parse(readFileSync(file, 'utf8')) as Lock;
  const packages: LockedPackage[] = [];
  for (const [path, found] of Object.entries(closureOf(roots))) {
    const platform = platforms[nameIn(path)];
    // Other optional packages contain programs for one C library, and the agents do without them.
    if (path === '' || (found.optional && !platform)) continue;
    const { version, integrity, resolved, os, cpu } = found;
    packages.push({
      path,
      name: found.name ?? nameIn(path),
      version,
      integrity,
      size: await sizeOf(resolved),
      ...(platform && { os, cpu, libc: platform.libc }),
    });
  }
  const missing = Object.keys(platforms).filter(
    (each) => !packages.some(({ path }) => nameIn(path) === each),
  );
  if (missing.length > 0) throw new Error(`${name}: the registry lacks ${missing.join(', ')}.`);
  writeFileSync(file, `${JSON.stringify({ roots, platforms, packages }, null, 2)}\n`);
  console.log(`${name}: ${packages.length} packages`);
}

/** Every package that npm would install, for all platforms. An adapter runs the program that is named here. */
function closureOf(roots: Lock['roots']): Record<string, NpmPackage> {
  const temporary = mkdtempSync(join(tmpdir(), 'belay-lock-'));
  try {
    const content = { private: true, dependencies: roots, overrides: roots };
    writeFileSync(join(temporary, 'package.json'), JSON.stringify(content));
    const options = [
      '--package-lock-only',
      '--ignore-scripts',
      '--omit-lockfile-registry-resolved=false',
      '--no-audit',
      '--no-fund',
    ];
    execFileSync('npm', ['install', ...options], { cwd: temporary, stdio: 'inherit' });
    const written = readFileSync(join(temporary, 'package-lock.json'), 'utf8');
    return (JSON.parse(written) as { packages: Record<string, NpmPackage> }).packages;
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

async function sizeOf(url: string): Promise<number> {
  const response = await fetch(url, { method: 'HEAD' });
  const size = Number(response.headers.get('content-length'));
  if (!response.ok || !(size > 0)) throw new Error(`${url} has no size: ${response.status}.`);
  return size;
}

/** `node_modules/a/node_modules/@b/c` is the folder of `@b/c`. */
function nameIn(path: string): string {
  return path.split('node_modules/').at(-1) ?? '';
}
