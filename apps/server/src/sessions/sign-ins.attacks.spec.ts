import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { DockerClient } from '@belay/containers';
import {
  isEvent,
  type AgentChoice,
  type MadeToken,
  type MadeViewerLink,
  type SessionSummary,
} from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { assertMaySignIn, ownerCaller } from '../access/caller.js';
import { AgentStore } from '../agents/agent.store.js';
import { InstallableAgents } from '../agents/installable-agents.js';
import { SignInStore } from '../agents/sign-in.store.js';
import { connected, dashboardSocket, type Socket } from '../testing/dashboard-socket.js';
import { installableWith, someEntry } from '../agents/testing/package-registry.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { FakeEngine } from '../testing/fake-engine.js';
import { loginPageOf } from '../testing/login-page.js';
import { TestServer } from '../testing/server.js';
import { Exports } from './exports.js';

type Headers = Record<string, string>;
type Answer = SessionSummary & { status: number; detail: string };

const engine = new FakeEngine();
const login = {
  command: () => ['/opt/agents/fake/program'],
  env: () => ({}),
  policy: [],
  hosts: ['login.vendor.test', 'api.vendor.test'],
};
const lock = { roots: {}, platforms: {}, packages: [] };
const server = new TestServer()
  .replace(DockerClient, engine as never)
  .replace(InstallableAgents, installableWith(someEntry({ login }), lock) as never);

/** The headers of users. */
let ada: Headers;
let bob: Headers;

beforeAll(async () => {
  await server.start();
  const installed = new Date().toISOString();
  const store = server.app.get(AgentStore, { strict: false });
  const volumes = [{ name: store.volumeName(['fake']), libraries: ['glibc'] }];
  await store.putInstalled({
    name: 'fake',
    version: '1.0.0',
    installed,
    volumes,
    retired: false,
  });
  const typed = { command: ['typed'], protocol: 'terminal' };
  await server.json('PUT', '/api/custom-agents/typed', typed);
  [ada, bob] = [await newUser('ada'), await newUser('bob')];
});
afterEach(async () => {
  for (const { id } of await server.log.summaries()) {
    await server.json('POST', `/api/sessions/${id}/stop`, {});
    await until('its sandbox is gone', () => !server.sandboxes.agents.has(id));
  }
});
afterAll(() => server.close());

async function newUser(name: string): Promise<Headers> {
  const password = 'correct horse';
  await server.json('POST', '/api/users', { name, scope: 'admin', password });
  const answer = await server.fetch('/login', {
    token: '',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: server.url },
    body: new URLSearchParams({ name, password, to: '/' }).toString(),
  });
  return (await loginPageOf(answer)).headers;
}

async function send<T = Answer>(headers: Headers, method: string, path: string, body?: object) {
  const answer = await server.fetch(path, {
    token: '',
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { ...(text ? (JSON.parse(text) as T) : ({} as T)), status: answer.status };
}

const wanted = (more: object = {}, agent: object = {}) => ({
  task: 'Sign in',
  model: 'fake:subscription',
  agent: { name: 'fake', login: true, ...agent },
  ...more,
});
const start = (headers: Headers, more: object = {}, agent: object = {}) =>
  send(headers, 'POST', '/api/sessions', wanted(more, agent));
const begin = async (headers: Headers, more: object = {}): Promise<string> => {
  const { id, status, detail } = await start(headers, more);
  expect({ status, detail }).toEqual({ status: 201 });
  await server.reaches(id, 'running');
  return id;
};
const finish = async (id: string): Promise<void> => {
  await server.sandboxes.finishes(server.log, id);
  await until('its sandbox is gone', () => !server.sandboxes.agents.has(id));
};
const signIns = () => server.app.get(SignInStore, { strict: false });
const startOf = (session: string) =>
  server.sandboxes.starts.findLast((one) => one.session === session)?.settings;
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const newToken = async (headers: Headers, more: object = {}): Promise<Headers> => {
  const made = { label: 'mine', scope: 'operate', sessions: 'all', ...more };
  return bearer((await send<MadeToken>(headers, 'POST', '/api/tokens', made)).token);
};

describe('a user’s own sign-in', () => {
  it('opens the vendor’s hosts for its session, in a terminal and without a model', async () => {
    const id = await begin(ada, { egress: { profile: 'packages', hosts: ['own.test'] } });
    const user = signIns().ofSession(id)?.user;
    expect(user).toMatch(/^user:/);
    expect(startOf(id)).toMatchObject({
      model: 'fake:subscription',
      agent: { name: 'fake', version: '1.0.0', protocol: 'terminal', login: user },
      egress: { profile: 'packages', hosts: ['own.test', ...login.hosts] },
    });
    await finish(id);
    const none = await begin(ada, { egress: { profile: 'none', hosts: ['own.test'] } });
    expect(startOf(none)?.egress).toEqual({ profile: 'list', hosts: login.hosts });
  });

  it.each([
    [{ sandbox: 'root' }, {}, /has no rights of root/],
    [{ modelForPrograms: true }, {}, /calls no model of the server/],
    [{}, { protocol: 'acp' }, /You sign in to Fake in its terminal/],
    [{}, { name: 'typed' }, /typed has no sign-in that Belay knows/],
  ])('is refused with a sentence for %j %j', async (more, agent, sentence) => {
    const { status, detail } = await start(ada, more, agent);
    expect(detail).toMatch(sentence);
    expect(status).toBeGreaterThanOrEqual(400);
    // The honest request in the same place.
    await begin(ada);
  });

  itLong('is for one session at a time, also after a restart of the server', async () => {
    const id = await begin(ada);
    const refused = { status: 409, detail: expect.stringContaining(`used by the session ${id}`) };
    expect(await start(ada)).toMatchObject(refused);
    expect(await send(ada, 'DELETE', '/api/agents/fake/login')).toMatchObject(refused);
    await server.restart();
    expect(await start(ada)).toMatchObject(refused);
    expect(signIns().ofSession(id)).toBeDefined();
    await send(ada, 'POST', `/api/sessions/${id}/stop`, {});
    const next = await begin(ada);
    expect(server.sandboxes.agents.has(id)).toBe(false);
    expect(signIns().ofSession(id)).toBeUndefined();
    // The first one cannot get it back meanwhile.
    const again = await send(ada, 'POST', `/api/sessions/${id}/restart`, {});
    expect(again).toMatchObject({
      status: 409,
      detail: expect.stringContaining(`used by the session ${next}`),
    });
    // A message starts it again as well.
    await send(ada, 'POST', `/api/sessions/${id}/messages`, { text: 'Go on' });
    await server.reaches(id, 'failed');
    expect((await server.log.summary(id)).reason).toContain(`used by the session ${next}`);
    expect(server.sandboxes.agents.has(id)).toBe(false);
  });

  it('is given to one of two sessions that start together', async () => {
    const answers = await Promise.all([start(ada), start(ada)]);
    const made = answers.filter(({ status }) => status === 201);
    const running = async () => {
      const all = await Promise.all(made.map(({ id }) => server.log.summary(id)));
      return all.every(({ state }) => state === 'running' || state === 'failed') && all;
    };
    const states = (await until('both are decided', running)).map(({ state }) => state);
    expect(states.filter((state) => state === 'running')).toHaveLength(1);
  });

  it('leaves the sandbox with the session’s end; one that is woken for files does not have it', async () => {
    const id = await begin(ada);
    await finish(id);
    server.sandboxes.answer = () => ({ entries: [] });
    await send(ada, 'POST', `/api/sessions/${id}/wake`, {});
    const woken = server.sandboxes.starts.filter(({ session }) => session === id).slice(1);
    expect(woken.length).toBeGreaterThan(0);
    for (const { settings } of woken) expect(settings.agent).toBeUndefined();
    await send(ada, 'POST', `/api/sessions/${id}/messages`, { text: 'Go on' });
    await server.reaches(id, 'running');
    await until('it has its sign-in again', () => startOf(id)?.agent?.login !== undefined);
  });

  it('is not read with the files of a session that has just ended', async () => {
    const id = await begin(ada);
    const first = server.sandboxes.agents.get(id);
    const patch = new PassThrough();
    server.sandboxes.patch = () => patch;
    const asked = jest.spyOn(server.app.get(Exports), 'open');
    await server.sandboxes.finishes(server.log, id);
    await until('the patch is read', () => first?.exports.length === 1);
    const path = `/api/sessions/${id}/export?format=tar`;
    const exported = server.fetch(path, { token: '', headers: ada });
    await until('the files are asked for', () => asked.mock.calls.length > 0);
    patch.push('the patch');
    // Not by `end`, which is the agent’s by now.
    patch.push(null);
    server.sandboxes.patch = undefined;
    expect((await exported).status).toBe(200);
    expect(first?.exports.map(({ format }) => format)).toEqual(['patch']);
    expect(server.sandboxes.agents.get(id)?.exports).toHaveLength(1);
    expect(startOf(id)?.agent).toBeUndefined();
    await server.json('DELETE', `/api/sessions/${id}`);
  });

  it('is kept until its user logs out', async () => {
    const listed = async (headers: Headers) => {
      const answer = await server.fetch('/api/agents', { token: '', headers });
      return ((await answer.json()) as AgentChoice[]).find(({ name }) => name === 'fake')?.login;
    };
    await finish(await begin(ada));
    const { volume = '' } = signIns().find({ user: ownUser(), agent: 'fake' }) ?? {};
    engine.volumeNames.add(volume);
    expect([await listed(ada), await listed(bob)]).toEqual(['kept', 'possible']);
    expect(await send(bob, 'DELETE', '/api/agents/fake/login')).toMatchObject({
      status: 404,
      detail: 'You are not signed in to fake, so there is nothing to remove.',
    });
    expect(engine.volumeNames.has(volume)).toBe(true);
    expect(await send(ada, 'DELETE', '/api/agents/fake/login')).toMatchObject({ status: 204 });
    expect(engine.volumeNames.has(volume)).toBe(false);
    expect(await listed(ada)).toBe('possible');
  });
});

it('is removed with its user, and with it the sandbox that has it', async () => {
  const eve = await newUser('eve');
  const id = await begin(eve);
  const { volume = '', user = '' } = signIns().ofSession(id) ?? {};
  const hers = await begin(ada);
  engine.volumeNames.add(volume);
  const removed = await server.json('DELETE', `/api/users/${user.replace('user:', '')}`);
  expect(removed).toMatchObject({ status: 204 });
  await until(
    'nobody has the sign-in',
    () => signIns().find({ user, agent: 'fake' }) === undefined,
  );
  expect(engine.volumeNames.has(volume)).toBe(false);
  expect(server.sandboxes.agents.has(id)).toBe(false);
  const gone = expect.stringContaining('The user who signed in for this session was removed.');
  expect(await server.log.summary(id)).toMatchObject({ state: 'failed', reason: gone });
  const seq = await server.log.lastSeq(id);
  await server.json('POST', `/api/sessions/${id}/messages`, { text: 'Go on' });
  await until('it has failed again', async () => {
    const states = (await server.log.read(id, { after: seq })).filter((event) =>
      isEvent(event, 'state'),
    );
    return states.some(({ args }) => args.state === 'failed');
  });
  expect(signIns().find({ user, agent: 'fake' })).toBeUndefined();
  expect(signIns().ofSession(hers)).toBeDefined();
});

/** The id of the user of the latest session. */
const ownUser = (): string => server.sandboxes.starts.at(-1)?.settings.agent?.login ?? '';

describe('attacks: a user’s own sign-in', () => {
  it('another user gets one of their own, and does not operate the session', async () => {
    const id = await begin(ada);
    const others = await begin(bob);
    const [hers, his] = [signIns().ofSession(id), signIns().ofSession(others)];
    expect(hers?.volume).not.toBe(his?.volume);
    for (const [method, path, body] of [
      ['POST', 'messages', { text: 'cat the credential' }],
      ['POST', 'restart', {}],
      ['POST', 'fork', { seq: 1, agent: { name: 'belay' }, model: 'scripted:x' }],
      ['POST', 'operations/files.write', { path: 'a', content: 'x' }],
      ['PATCH', '', { egress: { profile: 'open' } }],
      ['DELETE', '', undefined],
    ] as const) {
      const address = `/api/sessions/${id}${path && `/${path}`}`;
      const { status } = await send(bob, method, address, body);
      expect({ path, status }).toEqual({ path, status: 403 });
    }
    const socket = await open(bob);
    const keys = { session: id, terminal: 'agent', data: 'cat\r' };
    const answer: unknown = await socket.timeout(20_000).emitWithAck('terminal.keys', keys);
    expect(JSON.stringify(answer)).toContain('another user’s own sign-in');
    // Its user does all of this.
    expect(await send(ada, 'PATCH', `/api/sessions/${id}`, { title: 'Mine' })).toMatchObject({
      status: 200,
    });
  });

  it('a token has that of its maker; one for some sessions, and a model, have none', async () => {
    const token = await newToken(ada);
    const id = await begin(token);
    expect(signIns().ofSession(id)?.user).toBe(ownUser());
    expect(ownUser()).toMatch(/^user:/);
    expect((await send(ada, 'PATCH', `/api/sessions/${id}`, { title: 'Mine' })).status).toBe(200);
    await finish(id);
    for (const sessions of ['own', [id]]) {
      const narrow = await start(await newToken(ada, { sessions }));
      expect(narrow).toMatchObject({ status: 403 });
    }
    const via = { api: 'mcp', address: undefined } as const;
    expect(() => assertMaySignIn({ ...ownerCaller, via })).toThrow(/no model over MCP/);
    expect(() => assertMaySignIn(ownerCaller)).not.toThrow();
  });

  it('a fork has neither the sign-in nor the vendor’s hosts', async () => {
    const id = await begin(ada);
    const seq = await server.log.lastSeq(id);
    const fork = (body: object) => send(ada, 'POST', `/api/sessions/${id}/fork`, { seq, ...body });
    expect(await fork({})).toMatchObject({
      status: 409,
      detail: expect.stringContaining('does not get the sign-in'),
    });
    const more = { agent: { name: 'fake', login: true } };
    expect(await fork(more)).toMatchObject({ status: 400 });
    const made = await fork({ agent: { name: 'belay' }, model: 'scripted:x' });
    expect(made.status).toBe(201);
    await server.reaches(made.id, 'running');
    expect(startOf(made.id)?.agent).toBeUndefined();
    expect(startOf(made.id)?.egress.hosts).toEqual([]);
    expect(signIns().ofSession(made.id)).toBeUndefined();
  });

  it('its terminals are shown to its user and to nobody else, and are in no file', async () => {
    const id = await begin(ada);
    const secret = 'DEVICE-CODE-1234';
    const terminals = server.app.get(TerminalLog);
    await terminals.show(id, 'agent', 0, Buffer.from(`Enter ${secret}\r\n`));
    const path = `/api/sessions/${id}/links`;
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const link = await send<MadeViewerLink>(ada, 'POST', path, { label: 'Look', expires });
    expect(link.status).toBe(201);
    const seen = await Promise.all(
      [ada, bob, bearer(link.token), bearer(server.viewerToken)].map(async (headers) => {
        const socket = await open(headers);
        let text = '';
        socket.on('terminal', ({ bytes }: { bytes: Buffer }, received: () => void) => {
          text += Buffer.from(bytes).toString();
          received();
        });
        const answer: unknown = await watch(socket, id);
        expect(answer).toMatchObject({ ok: true });
        return () => text;
      }),
    );
    await until('its user, who came late, sees it', () => seen[0]?.().includes(secret));
    await terminals.show(id, 'agent', secret.length + 8, Buffer.from('second'));
    await until('its user sees more', () => seen[0]?.().includes('second'));
    expect(seen.slice(1).map((text) => text())).toEqual(['', '', '']);
    const stored = await server.fetch(`/api/sessions/${id}/terminals/agent`);
    expect((await stored.text()).replaceAll('\0', '')).toBe('');
    const file = await readFile(join(server.data, 'terminals', id, 'agent'), 'utf8');
    expect(file.replaceAll('\0', '')).toBe('');
    expect(file.length).toBeGreaterThan(0);
  });

  it('no call of an operation brings the text of a terminal into the log', async () => {
    const id = await begin(ada);
    const call = (session: string, name: string, input: object) =>
      send(ada, 'POST', `/api/sessions/${session}/operations/${name}`, input);
    const calls = [
      ['terminal.run', { command: 'cat /var/lib/belay/login/auth.json' }],
      ['terminal.read', { terminal: 'agent' }],
      ['terminal.input', { terminal: 'agent', text: 'cat' }],
    ] as const;
    for (const [name, input] of calls)
      expect(await call(id, name, input)).toMatchObject({
        status: 403,
        detail: expect.stringContaining('nothing of its terminals is recorded'),
      });
    expect(server.sandboxes.agents.get(id)?.calls).toEqual([]);
    // The same calls in a session without a sign-in reach its agent.
    const other = await server.session();
    for (const [name, input] of calls) await call(other, name, input);
    expect(server.sandboxes.agents.get(other)?.calls).toHaveLength(calls.length);
  });
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

async function open(headers: Headers): Promise<Socket> {
  const socket = dashboardSocket(server.url, headers);
  sockets.push(socket);
  return connected(socket);
}

const watch = (socket: Socket, session: string): Promise<unknown> =>
  socket.timeout(20_000).emitWithAck('watch', { session, after: 0, terminals: {} });
