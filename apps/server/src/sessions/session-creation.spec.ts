import { newSession, type MadeToken } from '@belay/protocol';
import { ownerCaller, type Caller } from '../access/caller.js';
import { SessionOwners } from '../access/session-owners.js';
import { TestServer } from '../testing/server.js';
import { newSessionId, SessionCreation } from './session-creation.js';

describe('the sandbox of sessions that a token begins', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const tokenFor = async (sandbox?: object, sessions = 'own'): Promise<string> => {
    const wanted = { label: 'GPT', scope: 'operate', sessions, ...(sandbox && { sandbox }) };
    return (await server.json<MadeToken>('POST', '/api/tokens', wanted)).token;
  };
  const begin = async (token: string, path = '/gpt/sessions', more: object = {}) => {
    const response = await server.fetch(path, {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task: 'Work', model: 'scripted:x', ...more }),
    });
    return (await response.json()) as { id?: string; session?: string; detail?: string };
  };
  const settingsOf = async ({ id, session = id }: Awaited<ReturnType<typeof begin>>) => {
    const { image, sandbox, machine } = await server.log.settings(session ?? '');
    return { image, sandbox, machine };
  };

  it('is the one that its maker chose, for programs that cannot choose one', async () => {
    const token = await tokenFor({ image: 'python:3', profile: 'root' });
    expect(await settingsOf(await begin(token))).toEqual({
      image: 'python:3',
      sandbox: 'root',
      machine: null,
    });
    // The control: the usual sandbox.
    expect(await settingsOf(await begin(await tokenFor()))).toEqual({
      image: null,
      sandbox: 'hardened',
      machine: null,
    });
  });

  it('is another one if the session chooses it', async () => {
    const token = await tokenFor({ image: 'python:3' });
    const chosen = await begin(token, '/api/sessions', { image: 'node:24' });
    expect(await settingsOf(chosen)).toMatchObject({ image: 'node:24' });
  });

  it('is what the session chooses, if that has no more rights than the token gives', async () => {
    const [root, hardened] = [await tokenFor({ profile: 'root' }), await tokenFor({})];
    const chosen = (token: string, sandbox: string) => begin(token, '/api/sessions', { sandbox });
    expect(await settingsOf(await chosen(root, 'hardened'))).toMatchObject({ sandbox: 'hardened' });
    expect(await settingsOf(await chosen(root, 'root'))).toMatchObject({ sandbox: 'root' });
    expect(await chosen(hardened, 'root')).toMatchObject({
      detail: expect.stringContaining('ask an admin for a token with the profile `root`'),
    });
    expect(await settingsOf(await begin(hardened, '/api/sessions'))).toMatchObject({
      sandbox: 'hardened',
    });
    // The control: a token without a sandbox of its own.
    expect(await settingsOf(await chosen(await tokenFor(), 'root'))).toMatchObject({
      sandbox: 'root',
    });
  });

  it('attacks: has no more rights than the token gives when the session is a fork', async () => {
    const token = await tokenFor({}, 'all');
    const fork = async (profile: string, by = token) => {
      const { id = '' } = await begin(server.token, '/api/sessions', { sandbox: profile });
      return begin(by, `/api/sessions/${id}/fork`, { seq: 1 });
    };
    expect(await fork('root')).toMatchObject({
      detail: expect.stringContaining('ask an admin for a token with the profile `root`'),
    });
    expect(await settingsOf(await fork('hardened'))).toMatchObject({ sandbox: 'hardened' });
    expect(await settingsOf(await fork('root', server.token))).toMatchObject({ sandbox: 'root' });
  });

  it('is refused while its machine is not there', async () => {
    const token = await tokenFor({ machine: 'laptop' });
    expect(await begin(token)).toMatchObject({
      detail: expect.stringContaining('There is no machine laptop'),
    });
  });
});

describe('a session that is created again with its id', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const callerWithOwn = (id: string): Caller => {
    const sessions = server.app.get(SessionOwners).of(id);
    return { id, label: 'CI', scope: 'operate', sessions, begins: true, expires: null };
  };
  const create = (caller: Caller, id: string) =>
    server.app
      .get(SessionCreation)
      .create(newSession.parse({ task: 'Work', model: 'scripted:x' }), caller, id);

  it('is the first one, at once and after a restart', async () => {
    const id = newSessionId();
    const both = await Promise.all([create(ownerCaller, id), create(ownerCaller, id)]);
    expect(both.map((summary) => summary.id)).toEqual([id, id]);
    await server.reaches(id, 'running');
    await server.restart();
    await create(ownerCaller, id);
    const events = await server.log.read(id, { after: 0 });
    expect(events.filter(({ action }) => action === 'start')).toHaveLength(1);
    expect(server.sandboxes.starts.filter(({ session }) => session === id)).toHaveLength(1);
  });

  it('is created if a crash came between its owner and its log', async () => {
    const id = newSessionId();
    const caller = callerWithOwn('token:a');
    await server.app.get(SessionOwners).record(id, caller);
    await create(caller, id);
    await server.restart();
    expect(server.app.get(SessionOwners).of('token:a').has(id)).toBe(true);
    expect(await create(callerWithOwn('token:a'), id)).toMatchObject({ id });
  });

  it('attacks: is not there for a caller who does not see it', async () => {
    const id = newSessionId();
    await create(callerWithOwn('token:a'), id);
    await expect(create(callerWithOwn('token:b'), id)).rejects.toMatchObject({ code: 'not_found' });
    expect(callerWithOwn('token:b').sessions).not.toContain(id);
  });
});

it('ids of sessions sort by time, also of those that begin at once', () => {
  const ids = Array.from({ length: 1_000 }, newSessionId);
  expect(ids.toSorted()).toEqual(ids);
});
