import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comparison, Event } from '@belay/protocol';
import { gitIn, put } from '@belay/testkit';
import { itLong, sampled, until } from '@belay/testing';
import { GitScene } from '../testing/git-scene.js';

const scene = new GitScene();
const { belay, git, folder, source, cloned, scratch } = scene;
beforeAll(() => scene.start());
afterAll(() => scene.close());
afterEach(() => {
  git.intercept = () => false;
});

/** What the sandbox got, unpacked. */
function workspaceOf(session: string): string {
  const target = join(folder, `workspace-${session}`);
  mkdirSync(target);
  const { tar } = belay.sandboxes.agents.get(session) ?? {};
  execFileSync('tar', ['-x', '-C', target], { input: tar });
  return target;
}

describe('git in', () => {
  it('begins with a working copy on the branch, with origin, and without a token', async () => {
    const { session, url } = await cloned({ branch: 'release/1' });
    const work = workspaceOf(session);
    expect(gitIn(work, 'status', '--porcelain', '--branch')).toBe(
      '## release/1...origin/release/1\n',
    );
    expect(gitIn(work, 'remote', 'get-url', 'origin')).toBe(`${url}\n`);
    expect(gitIn(work, 'log', '--format=%s')).toBe('first\n');
    expect(readFileSync(join(work, 'README.md'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(readFileSync(join(work, 'data.bin'))).toEqual(Buffer.from([0, 1, 2, 255]));
    gitIn(work, 'fsck', '--strict');
    const { tar } = belay.sandboxes.agents.get(session) ?? {};
    const events = JSON.stringify(
      await belay.json<Event[]>('GET', `/api/sessions/${session}/events`),
    );
    for (const place of [tar?.toString('latin1'), events, JSON.stringify(belay.sandboxes.starts)])
      expect(place).not.toContain(git.token);
    expect(events).toContain('Cloning');
    await until('nothing is left', () => scratch().length === 0);
  });

  itLong('is cloned once for all sessions of a comparison', async () => {
    const { url } = scene.repository();
    let fetches = 0;
    git.intercept = (request) => {
      if (request.url?.endsWith('/git-upload-pack') && request.method === 'POST') fetches += 1;
      return false;
    };
    await cloned();
    const [once] = [fetches, (fetches = 0)];
    const { sessions } = await belay.json<Comparison>('POST', '/api/comparisons', {
      task: 'x',
      models: ['scripted:a', 'scripted:b', 'scripted:c'],
      repository: { url },
    });
    for (const { id } of sessions) await belay.reaches(id, 'running');
    // Asking for the branch, and then one clone: as much as for a single session.
    expect(fetches).toBe(once);
    for (const { id } of sessions) {
      expect(gitIn(workspaceOf(id), 'remote', 'get-url', 'origin')).toBe(`${url}\n`);
      expect((await belay.log.settings(id)).repository).toMatchObject({ url, branch: 'main' });
    }
  });

  it('attacks: a branch that is called like the commit of a clone does not replace it', async () => {
    const { bare, url } = scene.repository();
    const commit = gitIn(bare, 'rev-parse', 'main').trim();
    const tree = gitIn(bare, 'rev-parse', 'main^{tree}').trim();
    const evil = gitIn(bare, 'commit-tree', '-m', 'evil', '-p', 'main', tree).trim();
    gitIn(bare, 'update-ref', `refs/heads/${commit}`, evil);
    const headOf = async (repository: object): Promise<string> =>
      gitIn(
        workspaceOf(await belay.session({ repository: { url, ...repository } })),
        'rev-parse',
        'HEAD',
      ).trim();
    expect(await headOf({})).toBe(commit);
    expect(await headOf({ commit })).toBe(commit);
    expect(await headOf({ branch: commit })).toBe(evil);
  });

  it('begins at an older commit of a branch, and publishes to that branch', async () => {
    const { bare, url } = scene.repository();
    const commit = gitIn(bare, 'rev-parse', 'main').trim();
    const tree = gitIn(bare, 'rev-parse', 'main^{tree}').trim();
    const later = gitIn(bare, 'commit-tree', '-m', 'later', '-p', 'main', tree).trim();
    gitIn(bare, 'update-ref', 'refs/heads/release/1', later);
    const session = await belay.session({ repository: { url, branch: 'release/1', commit } });
    const work = workspaceOf(session);
    expect(gitIn(work, 'rev-parse', 'HEAD').trim()).toBe(commit);
    expect(gitIn(work, 'branch', '--show-current')).toBe('release/1\n');
    scene.edit((folder) => put(folder, 'a.txt', 'a\n'));
    const target = { branch: 'agent/a' };
    expect(await scene.prepare(session, target)).toMatchObject({ base: 'release/1' });
    const unnamed = await belay.session({ repository: { url, commit } });
    expect(await scene.prepare(unnamed, target)).toMatchObject({ base: 'main' });
  });

  it('takes the last commits alone', async () => {
    const { session } = await cloned({ depth: 1 });
    expect(gitIn(workspaceOf(session), 'rev-parse', '--is-shallow-repository')).toBe('true\n');
  });

  it.each(
    sampled(2, [
      ['no branch', { branch: 'nope' }, 404, 'no branch or tag nope'],
      ['a short commit', { commit: 'abc1234' }, 400, 'the whole id of a commit'],
      ['an option', { branch: '--upload-pack=x' }, 400, 'not a valid branch name'],
      ['a path', { branch: '../x' }, 400, 'not a valid branch name'],
      ['ssh', { url: 'git@example.com:a/b.git' }, 400, 'use https://example.com/a/b.git'],
      ['a closed address', { url: 'https://127.0.0.1/a/b' }, 403, 'private or reserved network'],
      ['http', { url: 'http://example.com/a/b' }, 400, 'only over https'],
      ['a program', { url: 'ext::sh -c touch% /tmp/x' }, 400, 'https://host/owner/name'],
    ]),
  )('makes no session with %s', async (_, repository, status, sentence) => {
    const { url } = scene.repository();
    const body = {
      task: 'x',
      model: 'scripted:x',
      repository: { url, ...repository },
    };
    const before = (await belay.json<object[]>('GET', '/api/sessions')) as unknown as object[];
    const answer = await belay.json<{ detail: string }>('POST', '/api/sessions', body);
    expect(answer).toMatchObject({ status, detail: expect.stringContaining(sentence) as string });
    expect(await belay.json('GET', '/api/sessions')).toHaveLength(before.length);
  });

  describe('after a restart of the server during the clone', () => {
    /** A session whose clone hangs until the server has restarted. */
    const interrupted = async (hostScope: string, token = belay.token): Promise<string> => {
      const path = `private/${hostScope}.git`;
      git.publish(path, source);
      let isCloning = false;
      git.intercept = (request) => {
        if (request.method !== 'POST' || !request.url?.startsWith(`/${path}`)) return false;
        isCloning = true;
        return true;
      };
      await belay.json('PUT', `/api/git/hosts/${git.host}`, { scope: hostScope });
      const response = await belay.fetch('/api/sessions', {
        method: 'POST',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          task: 'x',
          model: 'scripted:x',
          repository: { url: git.url(path) },
        }),
      });
      const { id } = (await response.json()) as { id: string };
      await until('the server clones', () => isCloning);
      await belay.json('PUT', `/api/git/hosts/${git.host}`, { scope: 'admin' });
      // Its sandbox never got the files.
      belay.sandboxes.starts.length = 0;
      await belay.restart({ BELAY_MAX_SANDBOXES: '200' });
      git.intercept = () => false;
      return id;
    };
    afterEach(() => belay.json('PUT', `/api/git/hosts/${git.host}`, { scope: 'operate' }));

    it('uses the token that the session’s creator may use', async () => {
      const session = await interrupted('admin');
      await belay.reaches(session, 'running');
      expect(gitIn(workspaceOf(session), 'log', '--format=%s')).toBe('first\n');
    });

    it('attacks: uses none that the session’s creator may not use', async () => {
      const wanted = { label: 'operate', scope: 'operate' };
      const { token } = await belay.json<{ token: string }>('POST', '/api/tokens', wanted);
      const session = await interrupted('operate', token);
      await belay.reaches(session, 'failed');
      expect((await belay.log.summary(session)).reason).toContain('There is no public repository');
    });
  });

  it('fails with a sentence when the clone breaks off, and begins again on a restart', async () => {
    const { url } = scene.repository();
    git.intercept = (request, response) => {
      if (!request.url?.endsWith('/git-upload-pack')) return false;
      response.writeHead(200).end('0008NAK\n');
      return true;
    };
    const { id } = await belay.json<{ id: string }>('POST', '/api/sessions', {
      task: 'x',
      model: 'scripted:x',
      repository: { url },
    });
    await belay.reaches(id, 'failed');
    expect((await belay.log.summary(id)).reason).toContain('git server');
    git.intercept = () => false;
    await belay.json('POST', `/api/sessions/${id}/restart`);
    await belay.reaches(id, 'running');
  });
});
