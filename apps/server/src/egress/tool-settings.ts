import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

const goVariables = [
  'GOPROXY',
  'GONOPROXY',
  'GOSUMDB',
  'GONOSUMDB',
  'GOPRIVATE',
  'GOINSECURE',
  'GOFLAGS',
];

/** Variables of the host’s environment that name registries. */
const registryVariable =
  /^(npm_config_registry|PIP_(EXTRA_)?INDEX_URL|UV_(DEFAULT_|EXTRA_)?INDEX(_URL)?|CARGO_REGISTRIES_\w+_INDEX|CARGO_REGISTRY_DEFAULT)$/i;

/**
 * The host’s registry settings for package tools in sandboxes, as environment variables. One contains cargo’s
 * settings, which the agent writes to a file. Values with passwords or paths of the host are left out.
 */
export async function toolSettings(environment: Environment): Promise<Record<string, string>> {
  const home = environment['HOME'] ?? homedir();
  const read = (path: string) => readFile(path, 'utf8').catch(() => '');
  const go = await read(environment['GOENV'] ?? join(home, '.config/go/env'));
  const cargo = cargoRegistries(
    await read(join(environment['CARGO_HOME'] ?? join(home, '.cargo'), 'config.toml')),
  );
  const saved = go.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line.trim()) ?? [];
    return goVariables.includes(name) ? [[name, value] as const] : [];
  });
  const set = Object.entries(environment).filter(
    ([name]) => goVariables.includes(name) || registryVariable.test(name),
  );
  const said = [...saved, ...set].filter(
    (entry): entry is readonly [string, string] => !!entry[1] && isForOthers(entry[1]),
  );
  return { ...Object.fromEntries(said), ...(cargo && { BELAY_CARGO_CONFIG: cargo }) };
}

/** The registry tables of cargo’s settings; empty if there are none. */
function cargoRegistries(text: string): string {
  const kept: string[] = [];
  let wanted = false;
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line.startsWith('[')) wanted = /^\[(source|registries)\.|^\[registry\]/.test(line);
    if (wanted && cargoLine.test(line) && isForOthers(line)) kept.push(line);
  }
  return kept.length > 0 ? `${kept.join('\n')}\n` : '';
}

const cargoLine = /^\[|^(index|registry|replace-with|default|protocol)\s*=/;

const isForOthers = (value: string): boolean =>
  !/\/\/[^/\s"]*@|file:|=\s*"?[/~]|^[/~]/.test(value) && !value.includes('\0');
