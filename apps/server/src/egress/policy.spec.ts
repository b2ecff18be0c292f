import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { egressPolicy } from '@belay/protocol';
import { hostProxy } from './dial.js';
import { hostRegistries } from './host-registries.js';
import { normalHost, permissionOf } from './policy.js';

const own = [{ host: 'npm.corp.test', port: 8081 }];
const allows = (profile: string, hosts: string[], host: string, port = 443): boolean =>
  permissionOf(egressPolicy.parse({ profile, hosts }), { host, port }, own) !== undefined;

describe('the policy', () => {
  it.each<[string, string[], string, number, boolean]>([
    ['none', ['a.test'], 'a.test', 443, false],
    ['open', [], 'a.test', 25, true],
    ['packages', [], 'registry.npmjs.org', 443, true],
    ['packages', [], 'deb.debian.org', 80, true],
    ['packages', [], 'registry.npmjs.org', 22, false],
    ['packages', [], 'evil.registry.npmjs.org', 443, false],
    ['packages', [], 'npm.corp.test', 8081, true],
    ['packages', [], 'npm.corp.test', 443, false],
    ['packages', ['a.test'], 'a.test', 443, true],
    ['list', ['a.test'], 'registry.npmjs.org', 443, false],
    ['list', ['a.test'], 'npm.corp.test', 8081, false],
    ['list', ['a.test'], 'a.test', 80, true],
    ['list', ['a.test'], 'a.test', 8080, false],
    ['list', ['a.test:8080'], 'a.test', 8080, true],
    ['list', ['a.test:8080'], 'a.test', 443, false],
    ['list', ['@npm'], 'codeload.github.com', 443, true],
    ['list', ['@npm'], 'registry.npmjs.org', 443, true],
    ['list', ['@npm'], 'github.com', 22, false],
    ['list', ['@apt'], 'github.com', 443, false],
    ['packages', [], 'github.com', 443, false],
    ['none', ['@npm'], 'github.com', 443, false],
    ['list', ['*.a.test'], 'b.a.test', 443, true],
    ['list', ['*.a.test'], 'a.test', 443, false],
    ['list', ['*.a.test'], 'bada.test', 443, false],
    ['list', ['*.a.test:22'], 'b.a.test', 22, true],
    ['list', ['A.Test.'], 'a.test', 443, true],
    ['list', ['*'], 'a.test', 443, false],
  ])('%s %j: %s:%i', (...[profile, hosts, host, port, allowed]) => {
    expect(allows(profile, hosts, host, port)).toBe(allowed);
  });

  it.each([
    ['Registry.NPMJS.org.', 'registry.npmjs.org'],
    ['0x7f.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['::FFFF:127.0.0.1', '::ffff:7f00:1'],
    ['[::1]', '::1'],
    ['bücher.test', 'xn--bcher-kva.test'],
    ['a.test/x', undefined],
    ['a@b.test', undefined],
    ['a.test:80', undefined],
    ['a b', undefined],
    ['', undefined],
  ])('spells %s as %s', (host, normal) => {
    expect(normalHost(host)).toBe(normal);
  });
});

describe('the host’s own settings', () => {
  it('name its registries', async () => {
    const root = await mkdtemp(join(tmpdir(), 'belay-host-'));
    const home = join(root, 'home');
    const files: Record<string, string> = {
      'home/.npmrc':
        '; registry=http://comment.test/\nregistry=http://npm.corp.test:8081/npm/\n@paid:registry=https://user:secret@paid.test/\n@corp:registry=https://scoped.test/\nproxy=http://proxy.test:3128\n',
      'etc/pip.conf':
        '[global]\nindex-url = https://pip.corp.test/simple\nextra-index-url =\n  https://more.test/simple\n  file:///opt/simple\n',
      'etc/apt/sources.list.d/debian.sources':
        'Types: deb\n# http://snapshot.test/\nURIs: http://deb.corp.test/debian\n',
      'etc/apt/sources.list.d/old.list.disabled': 'deb http://disabled.test/ x main\n',
      'home/.cargo/config.toml':
        '[source.mirror]\nregistry = "sparse+https://crates.corp.test/index/"\n',
      'home/.config/go/env': 'GOPROXY=https://go.corp.test|direct\n',
    };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
    const environment = {
      HOME: home,
      UV_INDEX_URL: 'https://uv.test/simple',
      https_proxy: 'http://proxy.test:1',
    };
    const found = await hostRegistries(environment, root);
    expect(found.map(({ host, port }) => `${host}:${port}`).toSorted()).toEqual([
      'crates.corp.test:443',
      'deb.corp.test:80',
      'go.corp.test:443',
      'more.test:443',
      'npm.corp.test:8081',
      'pip.corp.test:443',
      'scoped.test:443',
      'uv.test:443',
    ]);
    await rm(root, { recursive: true });
  });

  it.each([
    [{}, null],
    [{ https_proxy: 'http://p.test:3128' }, 'http://p.test:3128/'],
    [{ HTTPS_PROXY: 'p.test:3128' }, 'http://p.test:3128/'],
    [{ http_proxy: 'http://p.test' }, 'http://p.test/'],
    [{ https_proxy: 'http://p.test', no_proxy: 'x.test, a.test' }, null],
    [{ https_proxy: 'http://p.test', no_proxy: '.test' }, null],
    [{ https_proxy: 'http://p.test', no_proxy: 'a.test:80' }, 'http://p.test/'],
    [{ https_proxy: 'http://p.test', no_proxy: '*' }, null],
    [{ https_proxy: 'socks5://p.test' }, null],
  ])('name its proxy: %j', (environment, proxy) => {
    const found = hostProxy(environment, { host: 'b.a.test', port: 443 });
    expect(found?.href ?? null).toBe(proxy);
  });
});
