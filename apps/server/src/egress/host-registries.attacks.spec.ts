import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hostRegistries } from './host-registries.js';
import { toolSettings } from './tool-settings.js';

describe('attacks: what a sandbox gets of the host’s settings', () => {
  let root: string;
  let home: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'belay-host-'));
    home = join(root, 'home');
  });
  afterEach(() => rm(root, { recursive: true }));
  const write = async (name: string, ...lines: string[]) => {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), `${lines.join('\n')}\n`);
  };
  const offered = async (environment: Record<string, string> = {}) =>
    (await hostRegistries({ HOME: home, ...environment }, root))
      .map(({ host, port }) => `${host}:${port}`)
      .toSorted();

  it('is not a proxy, whatever the tool calls it, beside a registry that is', async () => {
    await write(
      'home/.yarnrc.yml',
      'httpProxy: "http://proxy.corp.test:3128"',
      "httpsProxy: 'http://proxy.corp.test:3129'",
      'npmAuditRegistry: "https://audit.corp.test"',
      'npmRegistryServer: "https://yarn.corp.test"',
      'npmScopes:',
      '  corp:',
      '    npmRegistryServer: "https://scope.corp.test:8443"',
      '    npmPublishRegistry: "https://publish.corp.test"',
    );
    await write(
      'home/.npmrc',
      'https-proxy=http://proxy.corp.test:3130',
      'noproxy=http://no.test',
      'registry=https://npm.corp.test/',
      '//npm.corp.test/:_authToken=hush',
      'init-author-url=http://author.test/',
    );
    await write(
      'home/.cargo/config.toml',
      '[http]',
      'proxy = "http://proxy.corp.test:3131"',
      '[registries.corp]',
      'index = "sparse+https://crates.corp.test/"',
    );
    await write(
      'home/.config/pip/pip.conf',
      '[global]',
      'index-url = https://pip.corp.test/simple',
      'proxy = http://proxy.corp.test:3132',
    );
    await write(
      'etc/apt/sources.list',
      'deb [signed-by=/k.gpg] http://deb.corp.test/debian bookworm main',
    );
    await write(
      'home/.config/uv/uv.toml',
      '[[index]]',
      'name = "corp"',
      'url = "https://uv.corp.test/simple"',
      'extra-index-url = [',
      '  "https://more.corp.test/simple",',
      ']',
    );
    expect(await offered({ https_proxy: 'http://proxy.corp.test:1' })).toEqual([
      'crates.corp.test:443',
      'deb.corp.test:80',
      'more.corp.test:443',
      'npm.corp.test:443',
      'pip.corp.test:443',
      'scope.corp.test:8443',
      'uv.corp.test:443',
      'yarn.corp.test:443',
    ]);
  });

  it.each([
    'https://me:hush@npm.corp.test/',
    'https://me@npm.corp.test/',
    'file:///srv/npm',
    'http://localhost:4873/',
    'http://npm.localhost:4873/',
    'http://127.0.0.1:4873/',
    'http://0x7f.1:4873/',
    'http://2130706433:4873/',
    'http://[::1]:4873/',
    'http://[::ffff:127.0.0.1]:4873/',
    'http://0.0.0.0:4873/',
  ])('is not %s', async (address) => {
    await write('home/.npmrc', `registry=${address}`, '@corp:registry=https://honest.test/');
    const environment = { npm_config_registry: address, PIP_INDEX_URL: 'https://pip.test/' };
    expect(await offered(environment)).toEqual(['honest.test:443', 'pip.test:443']);
  });

  it.each([
    ['npm_config_registry', 'https://me:hush@npm.test/'],
    ['GOPROXY', 'https://go.test,https://me:hush@two.test'],
    ['GOFLAGS', '-modfile=/home/me/go.mod'],
    ['PIP_INDEX_URL', 'https://token@pip.test/simple'],
    ['CARGO_REGISTRIES_CORP_TOKEN', 'hush'],
    ['YARN_NPM_AUTH_TOKEN', 'hush'],
    ['NPM_TOKEN', 'hush'],
    ['HTTPS_PROXY', 'http://me:hush@proxy.test'],
  ])('has nothing of %s=%s, and the honest setting beside it', async (name, value) => {
    const told = await toolSettings({
      HOME: home,
      [name]: value,
      CARGO_REGISTRIES_HONEST_INDEX: 'sparse+https://crates.test/',
    });
    expect(told).toEqual({ CARGO_REGISTRIES_HONEST_INDEX: 'sparse+https://crates.test/' });
  });
});
