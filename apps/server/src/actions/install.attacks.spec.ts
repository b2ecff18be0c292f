import { chmodSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FoundActions } from '@belay/protocol';
import { itLong, sampled } from '@belay/testing';
import { Canary, gitIn, GitServer, hostileRepository, put } from '@belay/testkit';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { GitHosts } from '../git/git-hosts.js';
import { TestServer } from '../testing/server.js';
import { findActions } from './find-actions.js';
import { actionFiles, actionFile, shout } from './testing/action-files.js';

describe('attacks: sources of actions', () => {
  const server = new TestServer();
  const git = new GitServer();
  let folder: string;
  beforeAll(async () => {
    await Promise.all([server.start(), git.start()]);
    folder = mkdtempSync(join(tmpdir(), 'belay-hostile-'));
    await server.app.get(GitHosts).set(git.host, { private: true, insecure: true });
  });
  afterAll(async () => {
    await Promise.all([server.close(), git.close()]);
    rmSync(folder, { recursive: true });
  });

  /** An honest action beside what `add` puts there. */
  async function foundIn(name: string, add: (source: string) => void): Promise<FoundActions> {
    const source = join(folder, name);
    put(source, 'honest/manifest.json', JSON.stringify(shout()));
    put(source, 'honest/run', '#!/bin/sh\n');
    chmodSync(join(source, 'honest/run'), 0o755);
    add(source);
    gitIn(source, 'init', '-q', '-b', 'main', '--template=');
    gitIn(source, 'add', '-A');
    gitIn(source, 'commit', '-q', '-m', 'one');
    git.publish(`${name}.git`, source);
    return find(name);
  }
  const find = (name: string) =>
    server.json<FoundActions>('POST', '/api/actions/found', { from: git.url(`${name}.git`) });
  const honest = { actions: [{ name: 'shout', folder: 'honest' }] };

  it('takes an honest one, and leaves nothing behind', async () => {
    expect(await foundIn('honest', () => {})).toMatchObject(honest);
    expect(readdirSync(join(server.data, 'git'))).toEqual([]);
  });

  it.each(
    sampled(1, [
      ['a link to the host’s files', '/etc/passwd'],
      ['a link out of its folder', '../../../etc/passwd'],
      ['a link to a folder', '..'],
    ]),
  )('refuses %s within an action, and passes one over elsewhere', async (what, target) => {
    const name = what.replaceAll(/\W/g, '-');
    const inside = await foundIn(name, (source) =>
      symlinkSync(target, join(source, 'honest', 'link')),
    );
    expect(inside).toMatchObject({ detail: expect.stringContaining('is a link') });
    const outside = await foundIn(`${name}-2`, (source) =>
      symlinkSync(target, join(source, 'link')),
    );
    expect(outside).toMatchObject(honest);
  });

  it('refuses a submodule within an action', async () => {
    const source = join(folder, 'modules');
    await foundIn('modules', () => {});
    const commit = gitIn(source, 'rev-parse', 'HEAD').trim();
    put(source, '.gitmodules', `[submodule "x"]\n\tpath = honest/x\n\turl = ext::touch\n`);
    gitIn(source, 'update-index', '--add', '--cacheinfo', `160000,${commit},honest/x`);
    gitIn(source, 'commit', '-q', '-m', 'two');
    gitIn(source, 'push', '-q', join(git.folder, 'modules.git'), '--all');
    expect(await find('modules')).toMatchObject({
      detail: expect.stringContaining('is a submodule'),
    });
  });

  it('runs no hook, filter or other program of a repository', async () => {
    const source = join(folder, 'programs');
    const canary: Canary = hostileRepository(source, join(folder, 'canary'));
    const plain = join(folder, 'plain');
    gitIn(folder, 'clone', '-q', '--no-checkout', '--template=', source, plain);
    gitIn(plain, 'reset', '-q');
    put(plain, 'honest/manifest.json', JSON.stringify(shout()));
    put(plain, 'honest/run', '#!/bin/sh\n');
    put(plain, 'honest/.gitattributes', '* filter=evil diff=evil merge=evil export-subst\n');
    gitIn(plain, 'add', 'honest');
    gitIn(plain, 'commit', '-q', '-m', 'two');
    git.publish('programs.git', plain);
    canary.reset();
    expect(await find('programs')).toMatchObject(honest);
    expect(canary.ran()).toBe('');
  });

  itLong('reads no gigabyte of files, whether in one or in many', async () => {
    const large = await foundIn('large', (source) =>
      put(source, 'honest/zeros', new Uint8Array(65 * 2 ** 20)),
    );
    expect(large).toMatchObject({ status: 413, detail: expect.stringContaining('64 MiB') });
    const many = await foundIn('many', (source) => {
      for (let index = 0; index < 5_001; index++) put(source, `honest/${index}`, '');
    });
    expect(many).toMatchObject({ status: 413, detail: expect.stringContaining('5000 files') });
  });

  it.each([
    ['../out', /path/],
    ['/etc/cron.d/x', /path/],
    ['a/../../x', /path/],
    ['a\\..\\x', /path/],
    ['a\nb', /path/],
  ])('refuses the path %j in an archive', async (path, sentence) => {
    const send = async (name: string, type: 'file' | 'symlink' = 'file') => {
      const archive = pack();
      archive.entry({ name: 'manifest.json' }, JSON.stringify(shout()));
      archive.entry({ name: 'run', mode: 0o755 }, '#!/bin/sh\n');
      if (type === 'file') archive.entry({ name }, 'x');
      else archive.entry({ name, type, linkname: path });
      archive.finalize();
      const body = new Uint8Array(await buffer(archive));
      const headers = { 'content-type': 'application/x-tar' };
      const init = { method: 'POST', body, headers };
      return (await server.fetch('/api/actions/uploads', init)).json() as Promise<FoundActions>;
    };
    expect(await send('fine')).toMatchObject({ actions: [{ name: 'shout' }] });
    expect(await send(path)).toMatchObject({ detail: expect.stringMatching(sentence) });
    expect(await send('link', 'symlink')).toMatchObject({
      detail: expect.stringContaining('is a symlink'),
    });
  });
});

describe('attacks: manifests', () => {
  const faultOf = (manifest: object | string) => {
    const files = [actionFile('manifest.json', manifest), actionFile('run', '#!/bin/sh\n')];
    return findActions(files).faults[0]?.fault ?? null;
  };

  it('names the field that is wrong, in one sentence', () => {
    expect(findActions(actionFiles()).faults).toEqual([]);
    const { name_for_model: _, ...nameless } = shout();
    for (const [manifest, sentence] of [
      [nameless, 'the field name_for_model is missing'],
      [shout({ name_for_model: '../../etc' }), 'name_for_model: lowercase letters'],
      [shout({ packages: { debian: ['curl; rm -rf /'] } }), 'packages.debian.0: the name of a'],
      [shout({ packages: { npm: ['--global'] } }), 'packages.npm.0'],
      [shout({ packages: { pip: ["x'$(id)'"] } }), 'packages.pip.0'],
      [shout({ permissions: { network: ['*'] } }), 'permissions.network.0: a host'],
      [shout({ permissions: { network: ['a.example/x y'] } }), 'permissions.network.0'],
      [shout({ permissions: { secrets: ['lower'] } }), 'permissions.secrets.0: uppercase'],
      [shout({ permissions: { secrets: ['PATH'] } }), 'permissions.secrets.0'],
      [shout({ permissions: { secrets: ['LD_PRELOAD'] } }), 'permissions.secrets.0'],
      [shout({ permissions: { memory_mb: 1e9 } }), 'permissions.memory_mb'],
      [shout({ permissions: { workspace: 'root' } }), 'permissions.workspace'],
      [shout({ services: { '../x': { image: 'a', port: 1 } } }), 'services'],
      [shout({ parameters: { type: 'array' } }), 'parameters.type'],
      [
        shout({ parameters: { type: 'object', properties: { n: { type: 'strng' } } } }),
        'parameters.properties.n.type: "strng" is not a type',
      ],
      [shout({ permissions: { netwrok: ['a.b'] } }), 'permissions has no field "netwrok"'],
      [shout({ packages: { apt: ['curl'] } }), 'packages has no field "apt"'],
      [shout({ examples: [{ inputs: {}, input: {} }] }), 'examples.0 has no field "inputs"'],
      [
        shout({ services: { db: { image: 'a', port: 1, ports: [1] } } }),
        'services.db has no field "ports"',
      ],
      [shout({ permissions: { network: ['localhost:4799'] } }), 'the container itself'],
      [shout({ permissions: { network: ['127.0.0.1'] } }), 'the container itself'],
      [shout({ name_for_human: 'a'.repeat(101) }), 'name_for_human'],
      ['{"a":', 'not JSON'],
      ['[]', 'expected object'],
      [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'nested deeper'],
      [shout({ logo_url: 'x'.repeat(300_000) }), 'larger than'],
    ] as const)
      expect(faultOf(manifest)).toContain(sentence);
  });

  it('takes unknown fields, and says that they mean nothing', () => {
    const [action] = findActions(actionFiles({ api: { type: 'openapi' }, auth: 'none' })).actions;
    expect(action?.warnings).toEqual(['manifest.json has unknown fields: "api", "auth".']);
  });

  it('warns of examples that its own parameters refuse', () => {
    const parameters = { type: 'object', properties: { size: { enum: [1, 2] } } };
    const examples = [{ input: { size: 1 } }, { input: { size: 3 } }];
    const [action] = findActions(actionFiles({ parameters, examples })).actions;
    expect(action?.warnings).toEqual([
      expect.stringMatching(/^manifest\.json: example 2 does not match .* must be one of 1, 2\.$/),
    ]);
  });

  it('refuses a program with Windows line ends, which cannot be started', () => {
    const files = [actionFile('manifest.json', shout()), actionFile('run', '#!/bin/sh\r\nls\r\n')];
    expect(findActions(files).faults[0]?.fault).toMatch(/^run has Windows line ends/);
  });
});
