import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AppError,
  type ActionInstall,
  type FoundActions,
  type InstalledAction,
} from '@belay/protocol';
import { gitIn, GitServer, put } from '@belay/testkit';
import { GitHosts } from '../git/git-hosts.js';
import { TestServer } from '../testing/server.js';
import { storedDocuments } from '../testing/stored-documents.js';
import { ActionContainers } from './containers/action-containers.js';
import { ActionImages } from './containers/action-images.js';
import { actionTar } from './action-files.js';
import { actionFiles, shout } from './testing/action-files.js';
import { MemoryImages } from './testing/memory-images.js';

describe('installing actions', () => {
  const server = new TestServer();
  const git = new GitServer();
  const memory = new MemoryImages();
  let folder: string;
  let source: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-install-'));
    const env = { BELAY_EXAMPLES: join(folder, 'examples') };
    await Promise.all([server.replace(ActionImages, memory).start(env), git.start()]);
    source = join(folder, 'source');
    putAction('', {});
    gitIn(source, 'init', '-q', '-b', 'main', '--template=');
    commit('first');
    gitIn(source, 'tag', 'v1');
    publish();
    await server.app.get(GitHosts).set(git.host, { private: true, insecure: true });
  });
  afterAll(async () => {
    await Promise.all([server.close(), git.close()]);
    rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    memory.onMake = () => Promise.resolve();
    for (const { name } of await list()) await server.json('DELETE', `/api/actions/${name}`);
    rmSync(join(server.data, 'actions'), { recursive: true, force: true });
  });

  function putAction(where: string, manifest: object): void {
    put(source, join(where, 'manifest.json'), JSON.stringify(shout(manifest)));
    put(source, join(where, 'run'), '#!/bin/sh\necho hello\n');
    chmodSync(join(source, where, 'run'), 0o755);
  }
  const commit = (message: string) => {
    gitIn(source, 'add', '-A');
    gitIn(source, 'commit', '-q', '-m', message);
  };
  const publish = (name = 'me/shout.git') => git.publish(name, source);
  const push = () => {
    gitIn(source, 'push', '-q', join(git.folder, 'me/shout.git'), '--all');
  };
  const list = () => server.json<InstalledAction[]>('GET', '/api/actions');
  const find = (version: string | null = null, name = 'me/shout.git') =>
    server.json<FoundActions>('POST', '/api/actions/found', { from: git.url(name), version });
  const ended = async (job: ActionInstall): Promise<ActionInstall> => {
    let now = job;
    while (now.state === 'running') {
      const path = `/api/action-installs/${job.id}?after=${now.next}&wait=10`;
      const news = await server.json<ActionInstall>('GET', path);
      now = { ...news, lines: [...now.lines, ...news.lines] };
    }
    return now;
  };
  const install = async (found: string, names?: string[]) =>
    ended(await server.json<ActionInstall>('POST', '/api/action-installs', { found, names }));

  it('takes one from a git server, pinned to its commit, and offers it to sessions', async () => {
    const found = await find('v1');
    expect(found).toMatchObject({ version: 'v1', faults: [] });
    expect(found.commit).toBe(gitIn(source, 'rev-parse', 'v1').trim());
    expect(found.actions).toMatchObject([{ name: 'shout', state: 'new', folder: '' }]);
    expect(found.actions[0]?.changes.added).toContain('Has no network.');
    expect(await list()).toEqual([]);
    memory.onMake = async (_, { onLine }) => onLine('Setting up');
    const job = await install(found.id);
    expect(job).toMatchObject({ state: 'done', actions: [{ name: 'shout', error: null }] });
    expect(job.lines).toContain('[shout] Setting up');
    expect(await list()).toMatchObject([
      { name: 'shout', source: { from: git.url('me/shout.git'), commit: found.commit } },
    ]);
    expect(memory.made.at(-1)?.files.map(({ path, executable }) => [path, executable])).toEqual([
      ['manifest.json', false],
      ['run', true],
    ]);
  });

  it('attacks: a branch that is called like a commit does not stand for it', async () => {
    const bare = publish('me/pinned.git');
    const pinned = gitIn(bare, 'rev-parse', 'v1').trim();
    const tree = gitIn(bare, 'rev-parse', 'v1^{tree}').trim();
    const evil = gitIn(bare, 'commit-tree', '-m', 'evil', '-p', pinned, tree).trim();
    gitIn(bare, 'update-ref', `refs/heads/${pinned}`, evil);
    gitIn(bare, 'update-ref', 'refs/heads/other', evil);
    expect(await find(pinned, 'me/pinned.git')).toMatchObject({ commit: pinned, faults: [] });
    expect(await find('other', 'me/pinned.git')).toMatchObject({ commit: evil });
  });

  it('shows what an update changes, and installs what was shown, whatever came later', async () => {
    await install((await find()).id);
    expect((await find()).actions).toMatchObject([{ state: 'same' }]);
    putAction('', { permissions: { network: ['api.example.com'], workspace: 'write' } });
    commit('more');
    push();
    const update = await find();
    expect(update.actions).toMatchObject([
      {
        state: 'other',
        changes: {
          added: ['Reaches api.example.com.', 'Reads and changes the workspace.'],
          removed: ['Has no network.', 'Does not see the workspace.'],
        },
      },
    ]);
    putAction('', { permissions: { network: ['*.evil.example'] } });
    commit('worse');
    push();
    await install(update.id);
    const [{ manifest, source: from } = {} as InstalledAction] = await list();
    expect(manifest?.permissions.network).toEqual(['api.example.com']);
    expect(from?.commit).toBe(update.commit);
  });

  it('finds several in one repository, and names those that it cannot use', async () => {
    const before = gitIn(source, 'rev-parse', 'HEAD').trim();
    rmSync(join(source, 'manifest.json'));
    putAction('one', { name_for_model: 'one' });
    putAction('actions/two', { name_for_model: 'two' });
    putAction('rungpt/three', { name_for_model: 'three' });
    putAction('broken', { name_for_model: 'Has Spaces' });
    putAction('a/b/c/too-deep', { name_for_model: 'deep' });
    put(source, 'browser/manifest.json', '{"manifest_version": 3}');
    commit('several');
    publish('me/several.git');
    gitIn(source, 'reset', '-q', '--hard', before);
    const found = await find(null, 'me/several.git');
    expect(found.actions.map(({ name }) => name).toSorted()).toEqual(['one', 'three', 'two']);
    expect(found.faults).toEqual([
      { folder: 'broken', fault: expect.stringContaining('name_for_model: lowercase letters') },
      { folder: 'browser', fault: expect.stringContaining('browser/run is missing') },
    ]);
    expect(await install(found.id, ['two'])).toMatchObject({ state: 'done' });
    expect((await list()).map(({ name }) => name)).toEqual(['two']);
  });

  it('leaves what was there when an install fails or is stopped, and says why', async () => {
    memory.onMake = async (_, { onLine }) => {
      onLine('E: no such package');
      throw new Error('The setup ended with code 100.');
    };
    const failed = await install((await find()).id);
    expect(failed).toMatchObject({ state: 'failed', actions: [{ state: 'failed' }] });
    expect(failed.lines).toContain('[shout] E: no such package');
    const making = Promise.withResolvers<void>();
    memory.onMake = (_, { signal }) => {
      making.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
    };
    const { id } = await find();
    const job = await server.json<ActionInstall>('POST', '/api/action-installs', { found: id });
    await making.promise;
    await server.json('DELETE', `/api/action-installs/${job.id}`);
    expect((await ended(job)).actions).toMatchObject([{ error: 'The install was stopped.' }]);
    expect(await list()).toEqual([]);
    expect(memory.images).toEqual([]);
  });

  it('takes an example that comes with Belay', async () => {
    const none = await server.json('POST', '/api/actions/examples');
    expect(none).toMatchObject({ status: 404, detail: /^No examples are installed\./ });
    const dice = join('examples/actions', 'dice');
    put(folder, join(dice, 'manifest.json'), JSON.stringify(shout({ name_for_model: 'dice' })));
    put(folder, join(dice, 'run'), '#!/bin/sh\necho 6\n');
    chmodSync(join(folder, dice, 'run'), 0o755);
    const found = await server.json<FoundActions>('POST', '/api/actions/examples');
    expect(found).toMatchObject({ actions: [{ name: 'dice', folder: 'dice', state: 'new' }] });
    expect(await install(found.id)).toMatchObject({ state: 'done' });
    expect(await list()).toMatchObject([{ name: 'dice', source: { from: 'the examples' } }]);
  });

  it('takes a folder as an archive', async () => {
    const archive = await actionTar(actionFiles({ name_for_model: 'local' }), 'mine');
    const response = await server.fetch('/api/actions/uploads?from=/home/me/mine', {
      method: 'POST',
      body: new Uint8Array(archive),
      headers: { 'content-type': 'application/x-tar' },
    });
    const found = (await response.json()) as FoundActions;
    expect(found).toMatchObject({ commit: null, actions: [{ name: 'local', folder: 'mine' }] });
    expect(await install(found.id)).toMatchObject({ state: 'done' });
    const viewer = await server.fetch('/api/actions/local', { token: server.viewerToken });
    expect(await viewer.json()).toMatchObject({ source: { from: 'a folder' } });
  });

  it('shows that an update comes from elsewhere, and follows the version that was named last', async () => {
    await install((await find()).id);
    expect((await find()).actions).toMatchObject([{ state: 'same' }]);
    gitIn(source, 'tag', 'same');
    gitIn(source, 'push', '-q', join(git.folder, 'me/shout.git'), '--tags');
    const named = await find('same');
    expect(named.actions).toMatchObject([
      {
        state: 'other',
        changes: {
          added: [`Comes from ${git.url('me/shout.git')}@same.`],
          removed: [`Comes from ${git.url('me/shout.git')}.`],
        },
      },
    ]);
    expect(await install(named.id)).toMatchObject({ state: 'done' });
    expect(await list()).toMatchObject([{ source: { version: 'same' } }]);
  });

  it('runs no action without the secrets that it requires', async () => {
    const permissions = { secrets: ['API_KEY', 'MORE'], optional_secrets: ['MORE'] };
    const archive = await actionTar(actionFiles({ permissions }), 'x');
    const response = await server.fetch('/api/actions/uploads', {
      method: 'POST',
      body: new Uint8Array(archive),
      headers: { 'content-type': 'application/x-tar' },
    });
    await install(((await response.json()) as FoundActions).id);
    const start = jest
      .spyOn(server.app.get(ActionContainers), 'start')
      .mockRejectedValue(new AppError('unavailable', 'It would have started.'));
    const call = () => server.json('POST', '/api/actions/shout/calls', {});
    expect(await call()).toMatchObject({
      status: 409,
      detail:
        'shout needs the secret API_KEY, which is not set. Set it with: belay actions secret shout API_KEY',
    });
    expect(start).not.toHaveBeenCalled();
    await server.json('PUT', '/api/actions/shout/secrets/API_KEY', { value: 'k-123456' });
    expect(await call()).toMatchObject({ detail: 'It would have started.' });
    start.mockRestore();
  });

  it('keeps secrets to itself, and only those that the action asks for', async () => {
    const archive = await actionTar(actionFiles({ permissions: { secrets: ['API_KEY'] } }), 'x');
    const response = await server.fetch('/api/actions/uploads', {
      method: 'POST',
      body: new Uint8Array(archive),
      headers: { 'content-type': 'application/x-tar' },
    });
    await install(((await response.json()) as FoundActions).id);
    expect(await list()).toMatchObject([{ missingSecrets: ['API_KEY'] }]);
    const set = (key: string) =>
      server.json('PUT', `/api/actions/shout/secrets/${key}`, { value: 'k-123456' });
    expect(await set('API_KEY')).toMatchObject({ status: 200, missingSecrets: [] });
    expect(await set('OTHER_KEY')).toMatchObject({
      detail: 'shout does not ask for the secret OTHER_KEY: only API_KEY.',
    });
    expect(JSON.stringify(await list())).not.toContain('k-123456');
    const secrets = async () => (await storedDocuments(server))['action-secrets'];
    expect(await secrets()).toEqual({ shout: { API_KEY: 'k-123456' } });
    await server.json('DELETE', '/api/actions/shout');
    expect(await secrets()).toEqual({});
    expect(readdirSync(join(server.data, 'actions'))).toEqual([]);
  });

  it('refuses with a sentence what cannot be found', async () => {
    for (const [from, sentence] of [
      ['git@github.com:me/shout.git', 'ssh is not supported: use https://github.com/me/shout.git'],
      [git.url('me/nothing.git'), 'no repository'],
      ['http://127.0.0.1:1/me/shout', 'only over https'],
      ['https://127.0.0.1/me/shout', 'private or reserved network'],
      ['ext::sh -c id', 'https://host/owner/name'],
      ['--upload-pack=id', 'https://host/owner/name'],
    ] as const) {
      const answer = await server.json('POST', '/api/actions/found', { from });
      expect(answer).toMatchObject({ detail: expect.stringContaining(sentence) });
    }
    expect(await find('v9')).toMatchObject({ detail: expect.stringContaining('v9') });
    const gone = await server.json('POST', '/api/action-installs', { found: 'unknown' });
    expect(gone).toMatchObject({ status: 404 });
    expect(readdirSync(join(server.data, 'git'))).toEqual([]);
  });
});
