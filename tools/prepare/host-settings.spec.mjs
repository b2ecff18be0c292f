import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { debianSources, hostSettings, proxyArguments } from './host-settings.mjs';

describe('what images inherit from the host', () => {
  let at;
  beforeEach(() => (at = mkdtempSync(join(tmpdir(), 'belay-host-'))));
  afterEach(() => rmSync(at, { recursive: true }));

  function put(path, content) {
    mkdirSync(dirname(join(at, path)), { recursive: true });
    writeFileSync(join(at, path), content);
  }
  const settings = (env = {}) =>
    Object.fromEntries(
      hostSettings({ env, home: '/home/me', at }).map(({ path, content }) => [path, content]),
    );

  it('is almost nothing on a plain host', () => {
    expect(Object.keys(settings()).sort()).toEqual([
      'host/apt/.keep',
      'host/ca/.keep',
      'host/etc/pip.conf',
      'host/npm/npmrc',
    ]);
  });

  it('takes certificates that were added', () => {
    put('usr/local/share/ca-certificates/corp/root.crt', 'CERT');
    expect(settings()['host/ca/corp-root.crt']).toBe('CERT');
  });

  it('adds them to Chromium, too', () => {
    const root = '-----BEGIN CERTIFICATE-----\nAAAA\nBBBB\n-----END CERTIFICATE-----\n';
    put('usr/local/share/ca-certificates/corp.crt', root);
    const policy = settings()['host/etc/chromium/policies/managed/host.json'];
    expect(JSON.parse(policy)).toEqual({ CACertificates: ['AAAABBBB'] });
  });

  it('takes npm registries, but never a token', () => {
    put(
      'home/me/.npmrc',
      'registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=hush\n@corp:registry=https://user:hush@npm.corp.example/x/\n',
    );
    const npmrc = settings()['host/npm/npmrc'];
    expect(npmrc).toContain('registry=https://npm.corp.example/\n');
    expect(npmrc).not.toContain('hush');
  });

  it('takes pip indexes of the network, not folders of the host', () => {
    put(
      'etc/pip.conf',
      '[global]\nindex-url = https://pip.corp.example/simple\nextra-index-url = file:///srv/pip\n  https://more.example/simple\n',
    );
    const conf = settings()['host/etc/pip.conf'];
    expect(conf).toContain('index-url = https://pip.corp.example/simple\n');
    expect(conf).toContain('extra-index-url = https://more.example/simple\n');
    expect(conf).not.toContain('file:');
  });

  it('takes apt mirrors of the same Debian and proxies without a password', () => {
    put('etc/os-release', 'ID=debian\nVERSION_CODENAME=bookworm\n');
    put('etc/apt/sources.list', 'deb http://mirror.example/debian bookworm main contrib\n');
    put(
      'etc/apt/apt.conf.d/80proxy',
      'Acquire::http::Proxy "http://proxy:3128";\nAcquire::https::Proxy "http://me:hush@proxy:3128";\n',
    );
    const files = settings();
    expect(files['host/apt/host.sources']).toContain('URIs: http://mirror.example/debian\n');
    expect(files['host/apt/99host']).toBe('Acquire::http::Proxy "http://proxy:3128";\n');
  });

  it('takes a setting of apt once, as from an image that inherited it', () => {
    for (const name of ['80proxy', '99host'])
      put(`etc/apt/apt.conf.d/${name}`, 'Acquire::Retries "3";\n');
    expect(settings()['host/apt/99host']).toBe('Acquire::Retries "3";\n');
  });

  it('ignores the mirrors of another distribution', () => {
    put('etc/os-release', 'ID=ubuntu\nVERSION_CODENAME=noble\n');
    put('etc/apt/sources.list', 'deb http://archive.ubuntu.com/ubuntu noble main\n');
    expect(settings()).not.toHaveProperty(['host/apt/host.sources']);
  });
});

describe('Debian’s sources', () => {
  it('lists each suite once, from both formats', () => {
    const merged = debianSources([
      'deb [arch=amd64] http://one.example/debian bookworm main\n# deb http://no.example x main\n',
      'Types: deb\nURIs: http://two.example/debian\nSuites: bookworm bookworm-updates\nComponents: main\n\nTypes: deb\nURIs: http://sec.example/debian-security\nSuites: bookworm-security\nComponents: main\n',
    ]);
    expect(merged.match(/^Suites: .*$/gm)).toEqual([
      'Suites: bookworm',
      'Suites: bookworm-updates',
      'Suites: bookworm-security',
    ]);
    expect(merged).toContain('URIs: http://one.example/debian\nSuites: bookworm\n');
  });

  it('ignores other repositories', () => {
    expect(debianSources(['deb https://apt.example/ stable main\n'])).toBeUndefined();
  });
});

it('passes proxies to builds in both spellings', () => {
  expect(proxyArguments({ https_proxy: 'http://proxy:3128' })).toEqual({
    HTTPS_PROXY: 'http://proxy:3128',
    https_proxy: 'http://proxy:3128',
  });
});
