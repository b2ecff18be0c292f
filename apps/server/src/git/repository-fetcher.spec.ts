import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause, sampled } from '@belay/testing';
import { gitIn, hostileRepository, put } from '@belay/testkit';
import type { Config } from '../config.js';
import type { LiveServers } from '../storage/live-servers.js';
import { RepositoryFetcher } from './repository-fetcher.js';
import { GitBench } from './testing/git-bench.js';
import { writeTree } from './write-tree.js';

const limits = { entries: 1_000, bytes: 2 ** 20 };

let bench: GitBench;
let folder: string;
let first: string;
let second: string;
beforeAll(async () => {
  bench = await new GitBench().start();
  folder = mkdtempSync(join(tmpdir(), 'belay-fetch-'));
  const source = join(folder, 'source');
  put(source, 'README.md', 'hello\n');
  put(source, 'src/ä b.sh', '#!/bin/sh\n');
  chmodSync(join(source, 'src/ä b.sh'), 0o755);
  gitIn(source, 'init', '-q', '-b', 'trunk', '--template=');
  gitIn(source, 'add', '.');
  gitIn(source, 'commit', '-q', '-m', 'first');
  first = gitIn(source, 'rev-parse', 'HEAD').trim();
  gitIn(source, 'tag', '-a', 'v1', '-m', 'one');
  gitIn(source, 'checkout', '-q', '-b', 'feature/x');
  put(source, '.gitattributes', '* export-subst eol=crlf\nREADME.md export-ignore\n');
  gitIn(source, 'add', '.');
  gitIn(source, 'commit', '-q', '-m', 'second');
  second = gitIn(source, 'rev-parse', 'HEAD').trim();
  for (const path of ['public.git', 'private/app.git']) {
    const bare = bench.server.publish(path, source);
    gitIn(bare, 'symbolic-ref', 'HEAD', 'refs/heads/trunk');
  }
});
afterAll(async () => {
  await bench.close();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(() => {
  bench.server.intercept = () => false;
});

const leftovers = () => {
  const parent = join(bench.data, 'git');
  return existsSync(parent) ? readdirSync(parent) : [];
};

/** Sends the last bytes of a response later than the others. */
function holdTail(response: ServerResponse, bytes: number): void {
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  let held = Buffer.alloc(0);
  response.write = ((chunk: Buffer) => {
    const all = Buffer.concat([held, chunk]);
    held = all.subarray(-bytes);
    return write(all.subarray(0, -bytes));
  }) as typeof response.write;
  response.end = (() => {
    void pause(300, 'git reads the pack and ends').then(() => end(held));
    return response;
  }) as typeof response.end;
}

it.each([
  ['the default branch', undefined, () => first],
  ['a branch', 'feature/x', () => second],
  ['a tag', 'v1', () => first],
])('fetches %s', async (_, ref, commit) => {
  const got = await bench.fetch('private/app.git', ref === undefined ? {} : { ref });
  expect(got.commit).toBe(commit());
  const { output } = await got.repository.run(['cat-file', 'blob', `${commit()}:README.md`]);
  expect(output.toString()).toBe('hello\n');
  await got.repository.remove();
});

it('fetches a commit by its id, also where the server gives tips alone', async () => {
  for (const commit of [first, second]) {
    const got = await bench.fetch('public.git', { commit });
    expect(got.commit).toBe(commit);
    await got.repository.remove();
  }
});

it('attacks: no branch or tag that is called like a commit stands for it', async () => {
  const bare = join(bench.server.folder, 'public.git');
  for (const kind of ['heads', 'tags']) {
    const name = `refs/${kind}/${first}`;
    gitIn(bare, 'update-ref', name, second);
    const pinned = await bench.fetch('public.git', { commit: first });
    expect(pinned.commit).toBe(first);
    await pinned.repository.remove();
    const named = await bench.fetch('public.git', { ref: first });
    expect(named.commit).toBe(second);
    await named.repository.remove();
    gitIn(bare, 'update-ref', '-d', name);
  }
});

it('fetches the last commits alone, and says how far it is', async () => {
  const progress: string[] = [];
  const got = await bench.fetch('public.git', {
    ref: 'feature/x',
    depth: 1,
    onProgress: (text) => progress.push(text),
  });
  const { output } = await got.repository.run(['rev-list', '--count', got.commit]);
  expect(output.toString()).toBe('1\n');
  expect(progress.at(-1)).toMatch(/^(Receiving objects|Resolving deltas) 100%$/);
  await got.repository.remove();
});

it('takes a pack whose last line comes when git has read it and ended', async () => {
  bench.server.intercept = (_, response) => {
    holdTail(response, 4);
    return false;
  };
  const got = await bench.fetch('public.git', { ref: 'feature/x' });
  expect(got.commit).toBe(second);
  await got.repository.remove();
});

it('writes the files of a folder, byte for byte whatever the attributes say', async () => {
  const got = await bench.fetch('public.git', { ref: 'feature/x' });
  const target = join(folder, 'written');
  mkdirSync(target);
  await writeTree(got.repository, { commit: got.commit, target, limits });
  expect(readdirSync(target).toSorted()).toEqual(['.gitattributes', 'README.md', 'src']);
  expect(readFileSync(join(target, 'README.md'), 'utf8')).toBe('hello\n');
  expect(statSync(join(target, 'src/ä b.sh')).mode & 0o111).toBe(0o111);
  const inner = join(folder, 'inner');
  mkdirSync(inner);
  await writeTree(got.repository, { commit: got.commit, subfolder: 'src', target: inner, limits });
  expect(readdirSync(inner)).toEqual(['ä b.sh']);
  await got.repository.remove();
});

it.each([
  ['no repository', 'nothing.git', {}, 'not_found', 'There is no repository'],
  [
    'no branch',
    'public.git',
    { ref: 'nope' },
    'not_found',
    'no branch or tag nope. It has: feature/x, trunk.',
  ],
  [
    'a commit that is not there',
    'public.git',
    { commit: 'f'.repeat(40) },
    'not_found',
    'no commit ffff',
  ],
  [
    'a commit for a branch',
    'public.git',
    { ref: 'f'.repeat(40) },
    'not_found',
    'trunk. The id of a commit is given as `commit`.',
  ],
  [
    'a tag for the branch of a commit',
    'public.git',
    { ref: 'v1', commit: 'f'.repeat(40) },
    'not_found',
    'no branch v1. It has: feature/x, trunk.',
  ],
  [
    'an option for a branch',
    'public.git',
    { ref: '--upload-pack=touch /tmp/x' },
    'not_found',
    'no branch or tag',
  ],
  ['a path for a branch', 'public.git', { ref: '../x' }, 'not_found', 'no branch or tag'],
  ['too large', 'public.git', { maxBytes: 100 }, 'too_large', 'is larger than 0 MiB'],
])('says in one sentence: %s', async (_, path, options, code, sentence) => {
  await expect(bench.fetch(path, options)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(sentence) as string,
  });
  expect(leftovers()).toEqual([]);
});

it('says which token is wrong or missing, and never what it is', async () => {
  const wrong = 'ghp_this-is-wrong';
  const read = () => bench.fetch('private/app.git');
  await bench.hosts.set(bench.server.host, { token: wrong });
  const refused = (await read().catch((error: unknown) => error)) as Error;
  expect(refused).toMatchObject({ code: 'unauthorized' });
  expect(refused.message).toContain('refused the token');
  expect(JSON.stringify(refused) + String(refused.stack)).not.toContain(wrong);
  await bench.hosts.set(bench.server.host, { token: null });
  await expect(read()).rejects.toMatchObject({
    code: 'unauthorized',
    message: expect.stringContaining('add a token for 127.0.0.1') as string,
  });
  await bench.hosts.set(bench.server.host, { token: bench.server.token, scope: 'admin' });
  await expect(read()).rejects.toMatchObject({ code: 'unauthorized' });
  await bench.hosts.set(bench.server.host, { scope: 'operate' });
  await (await read()).repository.remove();
});

it('calls no closed address that the admin did not allow, and no host without TLS', async () => {
  const remote = (more: object) => ({
    ...bench.hosts.remote(bench.server.url('public.git'), 'operate'),
    ...more,
  });
  const find = (given: ReturnType<typeof remote>) =>
    bench.fetcher.find(given, {}, AbortSignal.timeout(30_000));
  const before = bench.server.requests.length;
  await expect(find(remote({ isTrusted: false }))).rejects.toMatchObject({ code: 'forbidden' });
  expect(() => bench.hosts.remote('http://example.com/a/b', 'operate')).toThrow('only over https');
  expect(() => bench.hosts.remote('https://user:pass@example.com/a/b', 'operate')).toThrow(
    'leave out',
  );
  expect(() => bench.hosts.remote('git@example.com:a/b.git', 'operate')).toThrow('ssh is not');
  expect(() => bench.hosts.remote('file:///etc', 'operate')).toThrow('https://host/owner/name');
  expect(() => bench.hosts.remote('https://example.com/a/%2e%2e/b', 'operate')).not.toThrow();
  expect(() => bench.hosts.remote('https://example.com/a%2fb', 'operate')).toThrow('names no');
  for (const host of ['localhost', '0x7f.1', '[::1]', '169.254.169.254'])
    await expect(find(bench.hosts.remote(`https://${host}/a/b`, 'operate'))).rejects.toMatchObject({
      code: 'forbidden',
    });
  expect(bench.server.requests.length).toBe(before);
  await find(remote({}));
});

it('names the port of a host that it may not use, or cannot reach', async () => {
  expect(() => bench.hosts.remote('http://example.com:8080/a/b', 'operate')).toThrow(
    'example.com:8080 is used only over https',
  );
  const closed = '127.0.0.1:1';
  await bench.hosts.set(closed, { private: true, insecure: true });
  const remote = bench.hosts.remote(`http://${closed}/a/b`, 'operate');
  await expect(bench.fetcher.find(remote, {}, AbortSignal.timeout(30_000))).rejects.toThrow(
    `${closed} cannot be reached`,
  );
});

it('follows redirects within a host alone, without its token elsewhere', async () => {
  const { server } = bench;
  const seen: (string | undefined)[] = [];
  server.intercept = (request, response) => {
    const url = request.url ?? '';
    if (url.startsWith('/out/')) {
      response.writeHead(302, { location: 'http://169.254.169.254/x/info/refs' }).end();
      return true;
    }
    if (url.startsWith('/login/')) {
      response.writeHead(302, { location: '/users/sign_in' }).end();
      return true;
    }
    if (url.startsWith('/loop/')) {
      response.writeHead(302, { location: url }).end();
      return true;
    }
    if (url.startsWith('/old.git')) {
      response.writeHead(301, { location: url.replace('/old.git', '/public.git') }).end();
      return true;
    }
    seen.push(url);
    return false;
  };
  await expect(bench.fetch('out/a.git')).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('redirects to 169.254.169.254') as string,
  });
  await expect(bench.fetch('login/a.git')).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(bench.fetch('loop/a.git')).rejects.toMatchObject({ code: 'unavailable' });
  const got = await bench.fetch('old.git');
  expect(got.commit).toBe(first);
  await got.repository.remove();
  server.intercept = () => false;
});

it.each(
  sampled(2, [
    ['stalls', null],
    ['cuts its answer off', '0032'],
    ['does not speak git', 'hello'],
    ['sends a line that is none', '00zz'],
    ['sends a bad pack', `0008NAK\n000bPACKxx\u0001`],
  ]),
)('ends in time, and leaves nothing, when a server %s', async (_, body) => {
  const { server } = bench;
  const time = new AbortController();
  server.intercept = (request, response) => {
    if (!request.url?.endsWith('/git-upload-pack')) return false;
    response.writeHead(200);
    if (body !== null) response.end(body);
    // The time is over once the beginning of the answer was sent.
    else
      response.write('0008NAK\n', () => time.abort(new DOMException('Too slow', 'TimeoutError')));
    return true;
  };
  await expect(bench.fetch('public.git', { signal: time.signal })).rejects.toMatchObject({
    name: 'AppError',
    code: body === null ? 'timeout' : 'invalid_input',
  });
  expect(leftovers()).toEqual([]);
  server.intercept = () => false;
  await (await bench.fetch('public.git')).repository.remove();
});

describe('a hostile repository', () => {
  it('runs nothing on the host', async () => {
    const source = join(folder, 'hostile');
    const canary = hostileRepository(source, join(folder, 'canary'));
    // The test’s own git is to run nothing either.
    rmSync(join(source, '.git/hooks'), { recursive: true });
    const bare = bench.server.bare('hostile.git');
    rmSync(join(source, '.git/config'));
    rmSync(join(source, '.git/config.worktree'));
    gitIn(source, 'add', '--all', '.');
    gitIn(source, 'commit', '-q', '-m', 'attributes');
    gitIn(source, 'push', '-q', bare, 'HEAD:main');
    canary.reset();
    const got = await bench.fetch('hostile.git');
    const target = join(folder, 'hostile-written');
    mkdirSync(target);
    await writeTree(got.repository, { commit: got.commit, target, limits });
    expect(readFileSync(join(target, 'b.slow'), 'utf8')).toBe('slow\n');
    expect(readdirSync(join(got.repository.folder)).includes('hooks')).toBe(false);
    expect(canary.ran()).toBe('');
    await got.repository.remove();
  });

  it.each<[string, (source: string) => void, string]>(
    sampled(2, [
      [
        'many files',
        (source) => {
          for (let at = 0; at < 30; at++) put(source, `many/${at}`);
        },
        'more than 20 files',
      ],
      ['a link', (source) => symlinkSync('/etc', join(source, 'etc')), 'is a link'],
      [
        'a submodule',
        (source) => {
          gitIn(source, 'update-index', '--add', '--cacheinfo', `160000,${first},sub`);
        },
        'is a submodule',
      ],
      [
        'large files',
        (source) => put(source, 'large', Buffer.alloc(2 ** 20 + 1)),
        'larger than 1 MiB',
      ],
    ]),
  )('with %s writes nothing', async (name, add, sentence) => {
    const source = join(folder, name.replaceAll(' ', '-'));
    const path = `${name.replaceAll(' ', '-')}.git`;
    put(source, 'ok.txt');
    gitIn(source, 'init', '-q', '-b', 'main', '--template=');
    add(source);
    gitIn(source, 'add', '--all', ...(name === 'a submodule' ? ['ok.txt'] : ['.']));
    gitIn(source, 'commit', '-q', '-m', 'it');
    bench.server.publish(path, source);
    const got = await bench.fetch(path);
    const target = join(folder, `${path}-written`);
    mkdirSync(target);
    await expect(
      writeTree(got.repository, { commit: got.commit, target, limits: { ...limits, entries: 20 } }),
    ).rejects.toThrow(sentence);
    expect(readdirSync(target)).toEqual([]);
    await got.repository.remove();
  });

  it('with a tree of trees without an end, or a path into .git, is refused at once', async () => {
    const source = join(folder, 'bomb');
    put(source, 'x');
    gitIn(source, 'init', '-q', '-b', 'main', '--template=');
    const make = (entries: string[]): string =>
      execFileSync('git', ['-C', source, 'mktree'], {
        input: `${entries.join('\n')}\n`,
        encoding: 'utf8',
      }).trim();
    const blob = gitIn(source, 'hash-object', '-w', 'x').trim();
    let inner = make([`100644 blob ${blob}\tf`]);
    for (let depth = 0; depth < 12; depth++)
      inner = make(Array.from({ length: 10 }, (_, at) => `040000 tree ${inner}\td${at}`));
    const dotGit = make([`040000 tree ${make([`100644 blob ${blob}\tconfig`])}\t.GIT`]);
    for (const [name, root, code] of [
      ['bomb', inner, 'too_large'],
      ['dotgit', dotGit, 'forbidden'],
    ] as const) {
      const commit = gitIn(source, 'commit-tree', '-m', name, root).trim();
      const bare = bench.server.bare(`${name}.git`);
      gitIn(source, 'push', '-q', bare, `${commit}:refs/heads/main`);
      const got = await bench.fetch(`${name}.git`);
      const target = join(folder, `${name}-out`);
      mkdirSync(target);
      await expect(writeTree(got.repository, { commit, target, limits })).rejects.toMatchObject({
        code,
      });
      expect(readdirSync(target)).toEqual([]);
      await got.repository.remove();
    }
  });
});

it('removes what a killed server left, not what this one may be fetching', async () => {
  const data = join(folder, 'data');
  const unused = null as never;
  const servers = { otherIds: async () => new Set() } as unknown as LiveServers;
  const fetcher = new RepositoryFetcher({ data } as Config, unused, servers);
  put(data, 'git/left', 'half');
  await fetcher.beforeLead(true);
  expect(readdirSync(join(data, 'git'))).toEqual(['left']);
  await fetcher.beforeLead(false);
  expect(existsSync(join(data, 'git'))).toBe(false);
});
