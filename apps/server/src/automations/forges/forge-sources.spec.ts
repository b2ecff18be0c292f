import type { PlayedKind, PlayedLevel } from '@belay/testkit';
import { ForgeBench } from './testing/forge-bench.js';

const publicUrl = 'https://belay.example.com';
const admin = { id: 'user:ada' };
let bench: ForgeBench;
afterEach(() => bench.close());

async function start({
  kind = 'github',
  level = 'admin',
  ...more
}: { kind?: PlayedKind; level?: PlayedLevel; publicUrl?: string } = {}) {
  bench = await new ForgeBench().start(kind, { level, publicUrl, ...more });
  return bench.sources;
}
const connect = (options: { trustFiles?: boolean } = {}) =>
  bench.sources.connect(bench.host, 'acme/api', options, admin);

describe('connecting a repository', () => {
  it('makes a webhook whose secret is in no table and no answer', async () => {
    const sources = await start();
    const { source, secret } = await connect();
    const { self, id } = bench.played.state;
    expect(source).toMatchObject({
      repository: 'acme/api',
      repository_id: String(id),
      default_branch: 'main',
      self_id: String(self.id),
      files_by: null,
      problem: null,
    });
    expect(secret).toBeNull();
    const [hook] = bench.played.hooks.hooks;
    expect(hook).toMatchObject({ url: `${publicUrl}/hooks/git/${source.id}` });
    expect(await sources.secretOf(source.id)).toBe(hook?.secret);
    expect(hook?.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(await sources.list())).not.toContain(hook?.secret);
  });

  it('renews what is known, and keeps secret, id and trust', async () => {
    const sources = await start();
    const first = await connect({ trustFiles: true });
    expect(first.source.files_by).toBe('user:ada');
    const secret = await sources.secretOf(first.source.id);
    bench.played.state.rename('acme/web');
    const again = await connect();
    expect(again.source).toMatchObject({
      id: first.source.id,
      repository: 'acme/web',
      files_by: 'user:ada',
    });
    expect(await sources.secretOf(again.source.id)).toBe(secret);
    expect(bench.played.hooks.hooks).toHaveLength(1);
    expect((await connect({ trustFiles: false })).source.files_by).toBeNull();
    expect(await sources.of(bench.host, 'ACME/Web')).toMatchObject({ id: first.source.id });
    expect(await sources.of('example.com', 'acme/web')).toBeUndefined();
  });

  it('says once what to make by hand when the token may not make webhooks', async () => {
    const sources = await start({ level: 'write' });
    const { source, secret } = await connect();
    expect(source).toMatchObject({
      hook_id: null,
      problem: expect.stringContaining('make webhooks') as string,
    });
    expect(secret).toBe(await sources.secretOf(source.id));
    expect((await connect()).secret).toBeNull();
  });

  it('says that the token may not ask who may write', async () => {
    await start({ level: 'read' });
    const { source } = await connect();
    expect(source.problem).toMatch(/ask who may write/);
  });

  it('makes no webhook without a public address', async () => {
    const sources = await start({ publicUrl: undefined });
    const { source, secret } = await connect();
    expect({ secret, problem: source.problem }).toEqual({ secret: null, problem: null });
    expect(sources.hookUrl(source.id)).toBeNull();
    expect(bench.played.hooks.hooks).toEqual([]);
    await expect(sources.secretOf(source.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('throws for what cannot be read, and keeps nothing', async () => {
    const sources = await start();
    const wanted = sources.connect(bench.host, 'acme/none', {}, admin);
    await expect(wanted).rejects.toMatchObject({ code: 'not_found' });
    const unknown = sources.connect('git.example.com', 'acme/api', {}, admin);
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
    await bench.hosts.set(bench.host, { token: null });
    await expect(connect()).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await sources.list()).toEqual([]);
  });
});

describe('a source', () => {
  it('is removed with its webhook, even if the host is gone', async () => {
    const sources = await start();
    const first = await connect();
    await sources.disconnect(first.source.id);
    expect(bench.played.hooks.hooks).toEqual([]);
    expect(await sources.list()).toEqual([]);
    await expect(sources.secretOf(first.source.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(sources.disconnect(first.source.id)).rejects.toMatchObject({ code: 'not_found' });
    const second = await connect();
    await bench.hosts.remove(bench.host);
    await sources.disconnect(second.source.id);
    expect(await sources.list()).toEqual([]);
  });

  it('counts failures in a row, and keeps what connecting found', async () => {
    const sources = await start({ level: 'write' });
    const { source } = await connect();
    await sources.noteProblem(source.id, null);
    expect((await sources.find(source.id))?.problem).toBe(source.problem);
    await sources.noteProblem(source.id, 'It is gone.');
    await sources.noteProblem(source.id, 'It is gone.');
    expect(await sources.find(source.id)).toMatchObject({ problem: 'It is gone.', failures: 2 });
    await sources.noteProblem(source.id, null);
    expect(await sources.find(source.id)).toMatchObject({ problem: null, failures: 0 });
  });
});

it('says that GitLab does not send into private networks by itself', async () => {
  await start({ kind: 'gitlab', publicUrl: 'http://127.0.0.1:7070' });
  const { source } = await connect();
  expect(source.hook_id).not.toBeNull();
  expect(source.problem).toMatch(/private network only if “Allow requests/);
});

it('says what Gitea needs beyond write access', async () => {
  await start({ kind: 'gitea', level: 'write' });
  expect((await connect()).source.problem).toMatch(/repository administration/);
  await bench.close();
  await start({ kind: 'gitea', publicUrl: 'http://127.0.0.1:7070' });
  expect((await connect()).source.problem).toMatch(/ALLOWED_HOST_LIST/);
  await bench.close();
  await start({ kind: 'gitea', publicUrl: 'http://[::ffff:127.0.0.1]:7070' });
  expect((await connect()).source.problem).toMatch(/ALLOWED_HOST_LIST/);
});
