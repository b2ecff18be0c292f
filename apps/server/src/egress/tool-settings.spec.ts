import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolSettings } from './tool-settings.js';

describe('what package tools in sandboxes are told of the host', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'belay-tools-'));
    await mkdir(join(home, '.cargo'));
    await mkdir(join(home, '.config/go'), { recursive: true });
  });
  afterEach(() => rm(home, { recursive: true }));

  it('is nothing on a plain host', async () => {
    expect(await toolSettings({ HOME: home, PATH: '/bin' })).toEqual({});
  });

  it('is go’s own settings, its environment before its file', async () => {
    await writeFile(
      join(home, '.config/go/env'),
      'GOPROXY=https://old.test\nGONOSUMDB=corp.test/*\nGOPATH=/home/me/go\n',
    );
    const environment = { HOME: home, GOPROXY: 'https://go.test,direct', GOFLAGS: '-mod=mod' };
    expect(await toolSettings(environment)).toEqual({
      GOPROXY: 'https://go.test,direct',
      GONOSUMDB: 'corp.test/*',
      GOFLAGS: '-mod=mod',
    });
  });

  it('is the tables of registries of cargo, without tokens, passwords and folders', async () => {
    await writeFile(
      join(home, '.cargo/config.toml'),
      `[build]
rustc-wrapper = "/usr/bin/sccache"
[source.crates-io]
replace-with = "corp"
[source.corp]
registry = "sparse+https://crates.test/index/"
[source.here]
directory = "/srv/vendor"
[registries.corp]
index = "sparse+https://crates.test/index/"
token = "hush"
[registries.other]
index = "https://me:hush@other.test/index"
`,
    );
    expect(await toolSettings({ HOME: home })).toEqual({
      BELAY_CARGO_CONFIG: `[source.crates-io]
replace-with = "corp"
[source.corp]
registry = "sparse+https://crates.test/index/"
[source.here]
[registries.corp]
index = "sparse+https://crates.test/index/"
[registries.other]
`,
    });
  });

  it('is the registries in the environment, none with a password or on the host’s disk', async () => {
    expect(
      await toolSettings({
        HOME: home,
        npm_config_registry: 'https://npm.test/',
        PIP_INDEX_URL: 'https://me:hush@pip.test/simple',
        UV_INDEX_URL: 'file:///srv/simple',
        CARGO_REGISTRIES_CORP_INDEX: 'sparse+https://crates.test/',
        CARGO_REGISTRIES_CORP_TOKEN: 'hush',
        OPENAI_API_KEY: 'hush',
      }),
    ).toEqual({
      npm_config_registry: 'https://npm.test/',
      CARGO_REGISTRIES_CORP_INDEX: 'sparse+https://crates.test/',
    });
  });
});
