import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, isEvent, type Event } from '@belay/protocol';
import { itLong, sampled } from '@belay/testing';
import { gitIn, put } from '@belay/testkit';
import { RepositoryPusher } from '../git/repository-pusher.js';
import { GitScene } from '../testing/git-scene.js';

const scene = new GitScene();
const { belay, git, folder, source, cloned, edit, prepare, publish, scratch } = scene;
beforeAll(() => scene.start());
afterAll(() => scene.close());
afterEach(() => {
  git.intercept = () => false;
});

describe('git out', () => {
  it('shows what would be pushed, pushes exactly that as one commit, and then what changed since', async () => {
    const { session, bare } = await cloned();
    edit((work) => {
      put(work, 'README.md', 'one\n2\nthree\n');
      put(work, 'new/é.txt', 'new\n');
      gitIn(work, 'mv', 'src/ä b.js', 'src/c.js');
    });
    const prepared = await prepare(session, { branch: 'agent/work' });
    expect(prepared).toMatchObject({
      status: 200,
      base: 'main',
      isNewBranch: true,
      refusals: [],
      files: [
        { path: 'README.md', status: 'changed', added: 1, removed: 1 },
        { path: 'new/é.txt', status: 'added', added: 1, removed: 0 },
        { path: 'src/c.js', from: 'src/ä b.js', status: 'renamed' },
      ],
    });
    expect(() => gitIn(bare, 'rev-parse', '--verify', 'agent/work')).toThrow();
    const message = 'Say 2\n\n"quotes" & $(touch x)\n';
    const bad = { branch: 'agent/work', id: prepared.id, message: 'a\0b' };
    expect(await publish(session, bad)).toMatchObject({ status: 400 });
    const pushed = await publish(session, { branch: 'agent/work', id: prepared.id, message });
    expect(pushed).toMatchObject({
      status: 200,
      branch: 'agent/work',
      pullRequest: null,
      problem: null,
    });
    expect(gitIn(bare, 'log', '--format=%cn %s', 'agent/work')).toBe('Belay Say 2\nt first\n');
    expect(gitIn(bare, 'show', 'agent/work:README.md')).toBe('one\n2\nthree\n');
    const events = await belay.json<Event[]>('GET', `/api/sessions/${session}/events`);
    expect((events as unknown as Event[]).at(-1)).toMatchObject({
      action: 'publish',
      args: { branch: 'agent/work', commit: pushed.commit },
    });
    expect(await prepare(session, { branch: 'agent/work' })).toMatchObject({
      status: 409,
      detail: expect.stringContaining('already has these changes') as string,
    });
    // Somebody else pushes to the branch, and the agent works on.
    const other = join(folder, 'other');
    execFileSync('git', ['clone', '-q', '-b', 'agent/work', bare, other]);
    put(other, 'theirs.txt', 'theirs\n');
    gitIn(other, 'add', 'theirs.txt');
    gitIn(other, 'commit', '-q', '-m', 'theirs');
    gitIn(other, 'push', '-q');
    edit((work) => {
      put(work, 'README.md', 'one\n2\n3\n');
      put(work, 'new/é.txt', 'new\n');
      gitIn(work, 'mv', 'src/ä b.js', 'src/c.js');
    });
    const next = await prepare(session, { branch: 'agent/work' });
    expect(next.files).toMatchObject([{ path: 'README.md', added: 1, removed: 1 }]);
    await publish(session, { branch: 'agent/work', id: next.id, message: 'Say 3' });
    expect(gitIn(bare, 'log', '--format=%s', 'agent/work')).toBe('Say 3\ntheirs\nSay 2\nfirst\n');
    expect(gitIn(bare, 'show', 'agent/work:theirs.txt')).toBe('theirs\n');
    gitIn(bare, 'fsck', '--strict');
    expect(scratch()).toEqual([]);
  });

  it('refuses what changed after it was shown, on either side', async () => {
    const { session, bare } = await cloned();
    edit((work) => put(work, 'a.txt', 'a\n'));
    const { id } = await prepare(session, { branch: 'x' });
    edit((work) => put(work, 'a.txt', 'rm -rf /\n'));
    expect(await publish(session, { branch: 'x', id, message: 'm' })).toMatchObject({
      status: 409,
      detail: expect.stringContaining('changed since you reviewed') as string,
    });
    edit((work) => put(work, 'a.txt', 'a\n'));
    expect(await publish(session, { branch: 'y', id, message: 'm' })).toMatchObject({
      status: 409,
    });
    gitIn(bare, 'branch', 'x', 'main');
    put(source, 'later.txt', 'x\n');
    const tip = gitIn(bare, 'commit-tree', '-m', 'other', '-p', 'main', 'main^{tree}').trim();
    gitIn(bare, 'update-ref', 'refs/heads/x', tip);
    expect(await publish(session, { branch: 'x', id, message: 'm' })).toMatchObject({
      status: 409,
    });
    rmSync(join(source, 'later.txt'));
    gitIn(bare, 'update-ref', '-d', 'refs/heads/x');
    expect(await publish(session, { branch: 'x', id, message: 'm' })).toMatchObject({
      status: 200,
    });
  });

  describe('after a server that was killed', () => {
    const target = { branch: 'agent/killed' };
    const commitsOf = async (session: string, action: 'pushing' | 'publish') =>
      (await belay.log.read(session, { after: 0 }))
        .filter((event) => isEvent(event, action))
        .map(({ args }) => args.commit);
    /** Publishes with a server that ends before it writes this into the log, or before it sends anything. */
    const killed = async (before: 'publish' | 'push') => {
      const { session, bare } = await cloned();
      edit((work) => put(work, 'a.txt', 'a\n'));
      const { id } = await prepare(session, target);
      const request = { ...target, id, message: 'm' };
      const { log } = belay;
      const append = log.append.bind(log);
      jest
        .spyOn(log, 'append')
        .mockImplementation((...given) =>
          Array.isArray(given[1]) && given[1].some(({ action }) => action === before)
            ? Promise.reject(new AppError('unavailable', 'Killed.'))
            : append(...given),
        );
      const pusher = belay.app.get(RepositoryPusher);
      if (before === 'push')
        jest.spyOn(pusher, 'push').mockRejectedValueOnce(new AppError('unavailable', 'Killed.'));
      expect(await publish(session, request)).toMatchObject({ detail: 'Killed.' });
      await belay.restart({ BELAY_MAX_SANDBOXES: '200' });
      return { session, bare, request };
    };

    it('records what that one has pushed, and pushes nothing again', async () => {
      const { session, bare, request } = await killed('publish');
      const tip = gitIn(bare, 'rev-parse', target.branch).trim();
      expect(await commitsOf(session, 'publish')).toEqual([]);
      expect(await publish(session, request)).toMatchObject({ status: 200, commit: tip });
      expect(await commitsOf(session, 'publish')).toEqual([tip]);
      expect(gitIn(bare, 'log', '--format=%s', target.branch)).toBe('m\nfirst\n');
      expect((await belay.log.summary(session)).published).toMatchObject({ commit: tip });
      expect(await publish(session, request)).toMatchObject({ status: 409 });
    });

    itLong(
      'records it also when the change is only looked at again, and goes on from there',
      async () => {
        const { session, bare } = await killed('publish');
        const tip = gitIn(bare, 'rev-parse', target.branch).trim();
        expect(await prepare(session, target)).toMatchObject({
          status: 409,
          detail: expect.stringContaining('already has these changes') as string,
        });
        expect(await commitsOf(session, 'publish')).toEqual([tip]);
        edit((work) => put(work, 'a.txt', 'b\n'));
        const next = await prepare(session, target);
        expect(next).toMatchObject({ status: 200, parent: tip });
        await publish(session, { ...target, id: next.id, message: 'n' });
        expect(gitIn(bare, 'log', '--format=%s', target.branch)).toBe('n\nm\nfirst\n');
      },
    );

    itLong('makes the same commit again if that one had not pushed it yet', async () => {
      const { session, bare, request } = await killed('push');
      const planned = await commitsOf(session, 'pushing');
      expect(await publish(session, request)).toMatchObject({ status: 200, commit: planned[0] });
      expect(await commitsOf(session, 'pushing')).toEqual(planned);
      expect(gitIn(bare, 'rev-parse', target.branch).trim()).toBe(planned[0]);
    });

    it('attacks: takes no commit of others for its own', async () => {
      const { session, bare, request } = await killed('publish');
      const [own] = await commitsOf(session, 'pushing');
      const tree = gitIn(bare, 'rev-parse', `${own}^{tree}`).trim();
      const theirs = gitIn(bare, 'commit-tree', '-m', 'm', '-p', 'main', tree).trim();
      gitIn(bare, 'update-ref', `refs/heads/${target.branch}`, theirs);
      expect(await publish(session, request)).toMatchObject({ status: 409 });
      expect(await commitsOf(session, 'publish')).toEqual([]);
    });
  });

  it('says where the branch and the session changed the same lines', async () => {
    const { session, bare } = await cloned();
    const other = join(folder, 'conflicting');
    execFileSync('git', ['clone', '-q', bare, other]);
    put(other, 'README.md', 'one\nzwei\nthree\n');
    gitIn(other, 'commit', '-q', '-a', '-m', 'theirs');
    gitIn(other, 'push', '-q');
    edit((work) => put(work, 'README.md', 'one\n2\nthree\n'));
    expect(await prepare(session, { branch: 'main', allow: ['default-branch'] })).toMatchObject({
      status: 409,
      detail: expect.stringContaining('do not apply to the branch in README.md') as string,
    });
  });

  it('refuses the default branch and files of CI until they are allowed', async () => {
    const { session, bare } = await cloned();
    edit((work) => put(work, '.github/workflows/ci.yml', 'on: push\n'));
    const target = { branch: 'main' };
    const { id, refusals } = await prepare(session, target);
    expect(refusals.map(({ needs }) => needs)).toEqual(['default-branch', 'ci-files']);
    for (const allow of [[], ['default-branch'], ['ci-files']])
      expect(await publish(session, { ...target, id, message: 'm', allow })).toMatchObject({
        status: 403,
      });
    expect(gitIn(bare, 'log', '--format=%s', 'main')).toBe('first\n');
    const allow = ['default-branch', 'ci-files'];
    expect(await publish(session, { ...target, id, message: 'm', allow })).toMatchObject({
      status: 200,
    });
    expect(gitIn(bare, 'log', '--format=%s', 'main')).toBe('m\nfirst\n');
  });

  itLong('refuses branches whose names are none', async () => {
    const { session } = await cloned();
    edit((work) => put(work, 'a', 'a'));
    const names = [
      '--upload-pack=x',
      '../x',
      'a..b',
      'a b',
      'x.lock',
      '-',
      'refs//x',
      '@{u}',
      'a\nb',
    ];
    for (const branch of names)
      expect([branch, (await prepare(session, { branch })).status]).toEqual([branch, 400]);
    expect(await prepare(session, { branch: 'ünïcode/x.y_z+1' })).toMatchObject({ status: 200 });
  });

  it.each(
    sampled(2, [
      [
        'a path into .git',
        'diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n',
      ],
      [
        'a submodule',
        `diff --git a/sub b/sub\nnew file mode 160000\nindex ${'0'.repeat(40)}..${'1'.repeat(40)}\n--- /dev/null\n+++ b/sub\n@@ -0,0 +1 @@\n+Subproject commit ${'1'.repeat(40)}\n`,
      ],
      [
        'a path out',
        'diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n',
      ],
      ['no patch at all', 'hello\n'],
    ]),
  )('publishes nothing of %s', async (_, patch) => {
    const { session } = await cloned();
    belay.sandboxes.patch = () => [Buffer.from(patch)];
    const { status, detail } = await prepare(session, { branch: 'x' });
    expect([403, 409]).toContain(status);
    expect(detail).toMatch(/do not apply|submodule|not a path/);
    expect(scratch()).toEqual([]);
  });

  itLong('says what the host says when it refuses a push', async () => {
    const { session, bare } = await cloned();
    mkdirSync(join(bare, 'hooks'), { recursive: true });
    writeFileSync(
      join(bare, 'hooks/pre-receive'),
      '#!/bin/sh\necho "Signed commits only" >&2\nexit 1\n',
      {
        mode: 0o755,
      },
    );
    edit((work) => put(work, 'a', 'a'));
    const { id } = await prepare(session, { branch: 'x' });
    expect(await publish(session, { branch: 'x', id, message: 'm' })).toMatchObject({
      status: 403,
      detail: expect.stringContaining('Signed commits only') as string,
    });
  });

  itLong('publishes a session that was not cloned, where its changes fit', async () => {
    const { bare, url } = scene.repository();
    const session = await belay.session();
    edit((work) => put(work, 'README.md', 'one\n2\nthree\n'));
    expect(await prepare(session, { branch: 'x' })).toMatchObject({
      status: 400,
      detail: expect.stringContaining('Give the address') as string,
    });
    const target = { url, branch: 'x' };
    const { id } = await prepare(session, target);
    await publish(session, { ...target, id, message: 'm' });
    expect(gitIn(bare, 'show', 'x:README.md')).toBe('one\n2\nthree\n');
  });

  it('is for who may operate the session, with a token that the caller may use, and audited', async () => {
    const { session } = await cloned();
    edit((work) => put(work, 'a', 'a'));
    const post = (token: string, path: string, body: object) =>
      belay.fetch(`/api/sessions/${session}/publish${path}`, {
        method: 'POST',
        token,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
    const { token } = await belay.json<{ token: string }>('POST', '/api/tokens', {
      label: 'operate',
      scope: 'operate',
    });
    const { id } = await prepare(session, { branch: 'x' });
    const body = { branch: 'x', id, message: 'm' };
    expect((await post(belay.viewerToken, '/prepare', { branch: 'x' })).status).toBe(403);
    expect((await post(belay.viewerToken, '', body)).status).toBe(403);
    await belay.json('PUT', `/api/git/hosts/${git.host}`, { scope: 'admin' });
    expect((await post(token, '', body)).status).toBe(401);
    await belay.json('PUT', `/api/git/hosts/${git.host}`, { scope: 'operate' });
    expect((await post(token, '', body)).status).toBe(200);
    const { entries } = await belay.json<{ entries: object[] }>(
      'GET',
      `/api/audit?session=${session}`,
    );
    expect(entries[0]).toMatchObject({ action: 'sessions.publish', subject: 'x', outcome: 'ok' });
    const hosts = JSON.stringify(await belay.json('GET', '/api/git/hosts'));
    expect(hosts).toContain('"token":true');
    expect(hosts).not.toContain(git.token);
    expect(
      (
        await belay.fetch('/api/git/hosts/example.com', {
          method: 'PUT',
          token,
          body: '{}',
          headers: { 'content-type': 'application/json' },
        })
      ).status,
    ).toBe(403);
  });
});
