import { readFile, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { normalHost, type Target } from './policy.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Package registries that the host’s own settings name: npm, Yarn, pip, uv, apt, cargo and go. */
export async function hostRegistries(environment: Environment, root = '/'): Promise<Target[]> {
  const home = environment['HOME'] ?? homedir();
  const files = [
    environment['NPM_CONFIG_USERCONFIG'] ??
      environment['npm_config_userconfig'] ??
      join(home, '.npmrc'),
    join(root, 'etc/npmrc'),
    join(root, 'usr/etc/npmrc'),
    join(root, 'usr/local/etc/npmrc'),
    join(home, '.yarnrc.yml'),
    environment['PIP_CONFIG_FILE'] ?? join(root, 'etc/pip.conf'),
    join(root, 'etc/xdg/pip/pip.conf'),
    join(home, '.config/pip/pip.conf'),
    join(home, '.pip/pip.conf'),
    join(home, '.config/uv/uv.toml'),
    join(home, '.cargo/config.toml'),
    join(home, '.config/go/env'),
    join(root, 'etc/apt/sources.list'),
    ...(await aptSources(join(root, 'etc/apt/sources.list.d'))),
  ];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  const named = Object.entries(environment).flatMap(([name, value]) =>
    registryVariable.test(name) && value ? [value] : [],
  );
  const targets = [...texts, ...named].flatMap(registriesIn);
  return [...new Map(targets.map((target) => [`${target.host}:${target.port}`, target])).values()];
}

const registryVariable =
  /^((npm|yarn)_config_(.*[:_])?registry|yarn_(npm_)?registry(_server)?|pip_(extra_)?index_url|pip_find_links|uv_(default_|extra_)?index(_url)?|cargo_registries_\w+_index|goproxy)$/i;

async function aptSources(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /\.(list|sources)$/.test(name)).map((name) => join(folder, name));
}

/** Every web address outside comments; lines about proxies and keys name no registry. */
function registriesIn(text: string): Target[] {
  return text
    .split('\n')
    .filter(
      (line) => !/^\s*[#;]|proxy\s*=|^\s*Signed-By/i.test(line) || line.startsWith('GOPROXY='),
    )
    .flatMap((line) => [...line.matchAll(webAddress)])
    .flatMap(([, scheme, name = '', port]) => {
      const host = normalHost(name);
      const usual = scheme === 'https' ? 443 : 80;
      return host ? [{ host, port: port ? Number(port) : usual }] : [];
    });
}

const webAddress = /(https?):\/\/(?:[^\s"'@/]*@)?(\[[0-9a-f:]+\]|[^\s"'/:,|@\]]+)(?::(\d+))?/gi;
