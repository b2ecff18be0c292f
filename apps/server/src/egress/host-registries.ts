import { readFile, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { registryTarget } from './registry-target.js';
import type { EgressTarget } from './policy.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The settings of each tool that name a registry. Lines with other keys are ignored, even if they contain an address.
 */
const keys = {
  npm: /^\s*(@[\w.-]+:)?registry\s*=/,
  yarn: /^\s*(npmRegistryServer\s*:|(?:"?@[\w.-]+:)?registry"?\s)/,
  pip: /^\s*(index[-_]url|extra[-_]index[-_]url|find[-_]links)\s*=/,
  uv: /^\s*(url|index-url|extra-index-url|default-index|find-links)\s*=/,
  cargo: /^\s*(registry|index)\s*=/,
  go: /^\s*GOPROXY\s*=/,
  apt: /^\s*(deb|deb-src)\s|^\s*URIs\s*:/,
} as const;

type Tool = keyof typeof keys;

/** Package registries that the host’s own settings name: npm, Yarn, pip, uv, apt, cargo and go. */
export async function hostRegistries(
  environment: Environment,
  root = '/',
): Promise<EgressTarget[]> {
  const files = await settingsFiles(environment, root);
  const read = files.map(async ([tool, file]) =>
    addressesIn(tool, await readFile(file, 'utf8').catch(() => '')),
  );
  const named = Object.entries(environment).flatMap(([name, value]) =>
    registryVariable.test(name) && value ? value.split(/[\s,|]+/) : [],
  );
  const targets = [...(await Promise.all(read)).flat(), ...named].flatMap(registryTarget);
  return [...new Map(targets.map((target) => [`${target.host}:${target.port}`, target])).values()];
}

async function settingsFiles(
  environment: Environment,
  root: string,
): Promise<(readonly [Tool, string])[]> {
  const home = environment['HOME'] ?? homedir();
  const npm = environment['NPM_CONFIG_USERCONFIG'] ?? environment['npm_config_userconfig'];
  const apt = await aptSources(join(root, 'etc/apt/sources.list.d'));
  return [
    ['npm', npm ?? join(home, '.npmrc')],
    ['npm', join(root, 'etc/npmrc')],
    ['npm', join(root, 'usr/etc/npmrc')],
    ['npm', join(root, 'usr/local/etc/npmrc')],
    ['yarn', join(home, '.yarnrc.yml')],
    ['yarn', join(home, '.yarnrc')],
    ['pip', environment['PIP_CONFIG_FILE'] ?? join(root, 'etc/pip.conf')],
    ['pip', join(root, 'etc/xdg/pip/pip.conf')],
    ['pip', join(home, '.config/pip/pip.conf')],
    ['pip', join(home, '.pip/pip.conf')],
    ['uv', join(home, '.config/uv/uv.toml')],
    ['cargo', join(home, '.cargo/config.toml')],
    ['go', join(home, '.config/go/env')],
    ['apt', join(root, 'etc/apt/sources.list')],
    ...apt.map((file) => ['apt', file] as const),
  ];
}

const registryVariable =
  /^((npm|yarn)_config_(.*[:_])?registry|yarn_(npm_)?registry(_server)?|pip_(extra_)?index_url|pip_find_links|uv_(default_|extra_)?index(_url)?|cargo_registries_\w+_index|goproxy)$/i;

async function aptSources(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /\.(list|sources)$/.test(name)).map((name) => join(folder, name));
}

/** The words with `://` in lines that name a registry, and in the indented lines that continue one. */
function addressesIn(tool: Tool, text: string): string[] {
  const found: string[] = [];
  let wanted = false;
  for (const line of text.split('\n')) {
    if (/^\s*([#;]|$)/.test(line)) continue;
    if (keys[tool].test(line)) wanted = true;
    else if (!continues(tool, line)) wanted = false;
    if (wanted) found.push(...(line.match(/[^\s"',|=[\]]+:\/\/[^\s"',|]+/g) ?? []));
  }
  return found;
}

/** Indented values without a key of their own: pip’s lists, arrays of TOML, and apt’s folded fields. */
const continues = (tool: Tool, line: string): boolean =>
  tool !== 'npm' && tool !== 'go' && tool !== 'yarn' && /^\s+[^\s=]+\s*$|^\s*\]/.test(line);
