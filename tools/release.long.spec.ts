import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { productNode, root } from './product-node.mjs';
import { filesWithVersion } from './release/version.ts';

const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Sessions.\n';
const released = (date: string) =>
  `# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - ${date}\n\n### Added\n\n- Sessions.\n`;
const scripts = {
  test: 'echo test >> dist/ran',
  'test:long': 'echo long >> dist/ran',
  'test:package': 'echo package >> dist/ran && touch dist/belay-$npm_package_version.tgz',
};
const identity = {
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

describe('npm run release', () => {
  let folder: string;
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ...identity },
    }).trim();
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const json = (path: string) => JSON.parse(read(path));
  const write = (path: string, content: unknown) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`;
    writeFileSync(join(folder, path), text);
  };
  const commit = (path: string, content: unknown) => {
    write(path, content);
    git('add', '.');
    git('commit', '--quiet', '--message', `change ${path}`);
  };
  const release = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(
      productNode(),
      [join(root, 'tools/release.ts'), ...args],
      { cwd: folder, encoding: 'utf8', env: { ...process.env, ...identity } },
    );
    return { status, output: stdout + stderr };
  };
  /** Everything that a release changes. */
  const state = () => ({
    head: git('rev-parse', 'HEAD'),
    tags: git('tag'),
    changes: git('status', '--porcelain'),
    archive: existsSync(join(folder, 'dist/belay-0.1.0.tgz')),
  });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-release-'));
    git('init', '--quiet', '--initial-branch', 'main');
    const main = { name: 'belay', version: '0.0.9', private: true, workspaces: ['libs/*', 'one'] };
    const protocol = { name: '@belay/protocol', version: '0.0.9' };
    const one = {
      name: '@belay/one',
      version: '0.0.9',
      dependencies: { '@belay/protocol': '0.0.9', zod: '4.0.0' },
    };
    const zod = { version: '4.0.0', resolved: 'https://registry.npmjs.org/zod' };
    write('package.json', { ...main, scripts });
    write('libs/protocol/package.json', protocol);
    write('one/package.json', one);
    write('package-lock.json', {
      name: 'belay',
      version: '0.0.9',
      lockfileVersion: 3,
      packages: { '': main, 'libs/protocol': protocol, one, 'node_modules/zod': zod },
    });
    write('libs/protocol/src/version.ts', "export const belayVersion = '0.0.9';\n");
    write('docker/kubernetes/Chart.yaml', 'name: belay\nversion: 0.0.9\nappVersion: 0.0.9\n');
    write('CHANGELOG.md', changelog);
    write('dist/.gitignore', '*\n!.gitignore\n');
    commit('README.md', '# Belay\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('tests, sets the version, packs, commits and tags', () => {
    const today = () => new Date().toISOString().slice(0, 10);
    const before = today();
    const { status, output } = release('0.1.0');
    expect(output).toContain('Released 0.1.0: dist/belay-0.1.0.tgz.');
    expect(status).toBe(0);
    expect(read('dist/ran')).toBe('test\nlong\npackage\n');
    expect([before, today()].map(released)).toContain(read('CHANGELOG.md'));
    expect(json('package.json')).toMatchObject({ version: '0.1.0', scripts });
    expect(json('one/package.json')).toEqual({
      name: '@belay/one',
      version: '0.1.0',
      dependencies: { '@belay/protocol': '0.1.0', zod: '4.0.0' },
    });
    expect(json('package-lock.json')).toMatchObject({
      version: '0.1.0',
      packages: {
        '': { version: '0.1.0' },
        one: { version: '0.1.0', dependencies: { '@belay/protocol': '0.1.0', zod: '4.0.0' } },
        'node_modules/zod': { version: '4.0.0' },
      },
    });
    expect(read('libs/protocol/src/version.ts')).toBe("export const belayVersion = '0.1.0';\n");
    expect(read('docker/kubernetes/Chart.yaml')).toBe(
      'name: belay\nversion: 0.1.0\nappVersion: 0.1.0\n',
    );
    expect(git('log', '-1', '--format=%s')).toBe('chore: release 0.1.0');
    expect(git('describe', '--exact-match')).toBe('v0.1.0');
    expect(state()).toMatchObject({ changes: '', archive: true });
  });

  it('only prints its plan in a dry run', () => {
    const before = state();
    const { status, output } = release('0.1.0', '--dry-run');
    expect(status).toBe(0);
    expect(output).toContain('- Sessions.');
    expect(state()).toEqual(before);
    expect(existsSync(join(folder, 'dist/ran'))).toBe(false);
  });

  it.each([
    [[], 'Name one version.'],
    [['1.0.0', '2.0.0'], 'Name one version.'],
    [['--force', '1.0.0'], "Unknown option '--force'"],
    [['1.0'], '“1.0” is not a version: '],
    [['v1.0.0'], '“v1.0.0” is not a version: '],
    [['1.0.0-beta'], '“1.0.0-beta” is not a version: '],
    [['01.0.0'], '“01.0.0” is not a version: '],
  ])('refuses %j', (args, sentence) => {
    const before = state();
    const { status, output } = release(...args);
    expect(output).toContain(sentence);
    expect(output).not.toMatch(/\n +at /);
    expect(status).toBe(1);
    expect(state()).toEqual(before);
  });

  it.each<[string, () => void, string]>([
    ['a version that has a tag', () => git('tag', 'v0.1.0'), 'not newer than 0.1.0'],
    [
      'a version below one of the changelog',
      () => commit('CHANGELOG.md', `${changelog}\n## [0.10.0] - 2026-01-01\n\n- More.\n`),
      'not newer than 0.10.0',
    ],
    ['another branch', () => git('checkout', '--quiet', '-b', 'topic'), 'this is topic.'],
    ['a changed tree', () => write('README.md', '# Other\n'), 'uncommitted changes'],
    ['a new file', () => write('new.md', 'new\n'), 'uncommitted changes'],
    [
      'a changelog without the section',
      () => commit('CHANGELOG.md', '# Changelog\n'),
      'has no section “## [Unreleased]”',
    ],
    [
      'a section without a change',
      () =>
        commit(
          'CHANGELOG.md',
          '# Changelog\n\n## [Unreleased]\n\n### Added\n\n## [0.0.9]\n\n- A\n',
        ),
      'lists no change',
    ],
  ])('refuses %s', (_what, change, sentence) => {
    change();
    const before = state();
    const { status, output } = release('0.1.0');
    expect(output).toContain(sentence);
    expect(status).toBe(1);
    expect(state()).toEqual(before);
    expect(existsSync(join(folder, 'dist/ran'))).toBe(false);
  });

  it.each(['test', 'test:long', 'test:package'])('leaves nothing when %s fails', (script) => {
    commit('package.json', {
      ...json('package.json'),
      scripts: { ...scripts, [script]: `${scripts['test:package']}; exit 1` },
    });
    rmSync(join(folder, 'dist/belay-0.1.0.tgz'), { force: true });
    const before = state();
    const { status, output } = release('0.1.0');
    expect(output).toMatch(/“npm (run )?test[:a-z]*” failed\. .* Nothing was released\./);
    expect(status).toBe(1);
    expect(state()).toEqual(before);
  });

  it('leaves nothing behind when it is interrupted', () => {
    const interrupt = 'kill -INT $(ps -o ppid= -p $PPID); exit 1';
    const test = `${scripts['test:package']}; ${interrupt}`;
    commit('package.json', {
      ...json('package.json'),
      scripts: { ...scripts, 'test:package': test },
    });
    const before = state();
    expect(release('0.1.0')).toMatchObject({
      status: 1,
      output: expect.stringContaining('Nothing was released.'),
    });
    expect(state()).toEqual(before);
  });

  it('leaves nothing behind when the commit or the tag is refused', () => {
    for (const hook of ['pre-commit', 'reference-transaction']) {
      const path = join(folder, '.git/hooks', hook);
      const before = state();
      const refuseTags =
        '#!/bin/sh\nwhile read a b ref; do case $ref in refs/tags/*) exit 1; esac; done\n';
      write(`.git/hooks/${hook}`, hook === 'pre-commit' ? '#!/bin/sh\nexit 1\n' : refuseTags);
      chmodSync(path, 0o755);
      expect(release('0.1.0')).toMatchObject({
        status: 1,
        output: expect.stringContaining('Nothing was released.'),
      });
      rmSync(path);
      expect(state()).toEqual(before);
    }
    expect(release('0.1.0').status).toBe(0);
  });

  it('finds every place of this repository that names the version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const files = filesWithVersion(root, version);
    for (const [path, text] of files) expect(readFileSync(join(root, path), 'utf8')).toBe(text);
    const raised = [...filesWithVersion(root, '99.0.0')];
    expect(raised.filter(([, text]) => !text.includes('99.0.0'))).toEqual([]);
    expect(files.size).toBeGreaterThan(10);
  });
});
