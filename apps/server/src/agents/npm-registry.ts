import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError, hostSets } from '@belay/protocol';

type Environment = Readonly<Record<string, string | undefined>>;

export interface NpmRegistry {
  /** With a slash at its end. */
  url: string;
  /** The value of the header Authorization, if the machine's settings have one for this registry. */
  authorization: string | undefined;
}

/**
 * The npm registry that this machine is configured for: by the environment, or else by the user's or the system's
 * `.npmrc`. Throws `invalid_input` for an address that is not HTTP.
 */
export async function npmRegistry(environment: Environment, root = '/'): Promise<NpmRegistry> {
  const home = environment['HOME'] ?? homedir();
  const user = environment['NPM_CONFIG_USERCONFIG'] ?? environment['npm_config_userconfig'];
  const read = (path: string) => readFile(path, 'utf8').catch(() => '');
  const texts = [await read(join(root, 'etc/npmrc')), await read(user ?? join(home, '.npmrc'))];
  const settings = new Map(texts.flatMap((text) => settingsIn(text, environment)));
  const named =
    environment['npm_config_registry'] ||
    environment['NPM_CONFIG_REGISTRY'] ||
    settings.get('registry') ||
    `https://${hostSets.npm.registries[0]}/`;
  const url = URL.parse(named.endsWith('/') ? named : `${named}/`);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AppError(
      'invalid_input',
      'The npm registry of this machine is not an HTTP address. Fix it with: npm config set registry URL',
    );
  return { url: url.href, authorization: credentialOf(settings, url) };
}

/** Lines `key=value`, in which `${NAME}` stands for a variable. */
function settingsIn(text: string, environment: Environment): [string, string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const [, key, value] = /^\s*([^\s=;#][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined || value === undefined) return [];
    const plain = value.replace(/^"(.*)"$/, '$1');
    return [[key, plain.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => environment[name] ?? '')]];
  });
}

/** That of the registry's own address or the closest folder above it, as npm looks for it. */
function credentialOf(
  settings: ReadonlyMap<string, string>,
  { host, pathname }: URL,
): string | undefined {
  for (let path = pathname; path !== ''; path = path.replace(/[^/]*\/?$/, '')) {
    const token = settings.get(`//${host}${path}:_authToken`);
    if (token) return `Bearer ${token}`;
    const basic = settings.get(`//${host}${path}:_auth`);
    if (basic) return `Basic ${basic}`;
    if (path === '/') break;
  }
  return undefined;
}
