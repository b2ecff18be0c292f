import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newEvent, type SessionSummary } from '@belay/protocol';
import { TestServer } from '../testing/server.js';

describe('folders of the host', () => {
  const server = new TestServer();
  let folder: string;
  let operator: string;
  beforeAll(async () => {
    await server.start();
    folder = await realpath(await mkdtemp(join(tmpdir(), 'belay-mount-')));
    await mkdir(join(folder, 'data'));
    const made = { label: 'ci', scope: 'operate', sessions: 'all' };
    operator = (await server.json<{ token: string }>('POST', '/api/tokens', made)).token;
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const as = async (token: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(new URL(path, server.url), init);
    const json = (await response.json()) as SessionSummary & { detail: string };
    return { ...json, status: response.status };
  };
  const wanted = () => ({
    task: 'Look',
    model: 'scripted:x',
    mounts: [{ folder: join(folder, 'data'), readOnly: true }],
  });
  const shared = () => [{ folder: join(folder, 'data'), path: '/mnt/data', readOnly: true }];

  it('are given by an admin alone, and stay with a session and its forks', async () => {
    const made = await server.json<SessionSummary>('POST', '/api/sessions', wanted());
    expect(made.mounts).toEqual(shared());
    await server.reaches(made.id, 'running');
    await server.json('POST', `/api/sessions/${made.id}/stop`, {});
    await server.json('POST', `/api/sessions/${made.id}/restart`, {});
    await server.reaches(made.id, 'running');
    expect(server.sandboxes.starts.at(-1)?.settings.mounts).toEqual(shared());

    const seq = await server.log.lastSeq(made.id);
    const fork = await server.json<SessionSummary>('POST', `/api/sessions/${made.id}/fork`, {
      seq,
    });
    expect(fork.mounts).toEqual(shared());
    const theirs = await as(operator, `/api/sessions/${made.id}/fork`, { seq });
    expect(theirs).toMatchObject({ status: 201, mounts: [] });
    const [said] = (await server.log.read(theirs.id, { after: seq })).filter(
      ({ action }) => action === 'fork',
    );
    expect(said?.message).toContain('lacks the host’s folders');
  });

  it('attacks: a token without the scope is refused, and begins sessions without them', async () => {
    const { task, model } = wanted();
    expect(await as(operator, '/api/sessions', wanted())).toMatchObject({
      status: 403,
      code: 'forbidden',
      detail: expect.stringContaining('Only an admin may share folders'),
    });
    expect(await as(operator, '/api/sessions', { task, model, mounts: [] })).toMatchObject({
      status: 201,
      mounts: [],
    });
  });

  it('attacks: an agent that writes them into its log gets none', async () => {
    const id = await server.session();
    const settings = await server.log.settings(id);
    const forged = newEvent('user', 'start', {
      args: { ...settings, mounts: shared(), again: true },
      message: 'Now with the folder.',
    });
    const epoch = await server.log.epoch(id);
    await expect(
      server.log.appendFromAgent(id, epoch, [{ ...forged, n: 1, time: new Date().toISOString() }]),
    ).rejects.toThrow();
    await server.sandboxes.says(server.log, id, { action: 'think', args: { thought: 'honest' } });
    await server.json('POST', `/api/sessions/${id}/stop`, {});
    await server.json('POST', `/api/sessions/${id}/restart`, {});
    await server.reaches(id, 'running');
    expect(server.sandboxes.starts.at(-1)?.settings.mounts).toEqual([]);
  });

  it.each([
    ['/etc', 'belongs to the system'],
    ['data', 'the absolute path'],
    ['/srv/\u0000', 'the absolute path'],
  ])('refuse %j with a sentence', async (name, why) => {
    const body = { ...wanted(), mounts: [{ folder: name }] };
    expect(await server.json('POST', '/api/sessions', body)).toMatchObject({
      status: 400,
      detail: expect.stringContaining(why),
    });
  });
});
