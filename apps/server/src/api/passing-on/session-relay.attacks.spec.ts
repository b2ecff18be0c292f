import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AppError, type ApiName, type AuditPage, type Event } from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { ownerCaller, viewerCaller, type Caller } from '../../access/caller.js';
import { PeerAgent } from '../../peers/peer-agent.js';
import type { PeerIntroduction } from '../../peers/peer-introduction.js';
import { PeerPort } from '../../peers/peer-port.js';
import { PeerWatch } from '../../peers/peer-watch.js';
import { SessionServers } from '../../peers/session-servers.js';
import { liveServer } from '../../testing/live-server.js';
import { TestServer } from '../../testing/server.js';
import { SessionCommands } from '../commands/session-commands.js';

const nowhere = '127.0.0.1:1';

/** A server that ends as soon as it is asked something, or in its answer. */
async function endingServer(answered = '') {
  const ending = createServer((socket) => {
    socket.once('data', () => socket.write('ok\n'));
    socket.on('data', (bytes) => {
      if (!String(bytes).includes('POST')) return;
      if (answered === '') socket.destroy();
      else socket.end(answered);
    });
  });
  await once(ending.listen(0, '127.0.0.1'), 'listening');
  const { port } = ending.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, close: () => ending.close() };
}

describe('attacks: a session of another server', () => {
  const owner = new TestServer();
  const entry = new TestServer();
  let port: PeerPort;
  let session: string;
  /** Where the owner is thought to be. */
  let address: string;

  beforeAll(async () => {
    await owner.start();
    session = await owner.session();
    port = await PeerPort.open({ host: '127.0.0.1' }, '127.0.0.1:0');
    port.work(owner.app.getHttpServer() as Server);
    const there = liveServer({ id: 'owner', address: port.address, key: port.key });
    entry.replace(SessionServers, {
      other: (id) =>
        id !== session ? Promise.resolve(undefined) : Promise.resolve({ ...there, address }),
      assertOwn: () => Promise.reject(new AppError('unavailable', 'Not here.')),
    });
    entry.replace(PeerWatch, { add: () => {} });
    entry.data = await mkdtemp(join(tmpdir(), 'belay-entry-'));
    // All servers of a database have the same tokens.
    const { token, viewerToken } = owner;
    await writeFile(join(entry.data, 'server.json'), JSON.stringify({ token, viewerToken }));
    await entry.start();
  });
  beforeEach(() => void (address = port.address));
  afterAll(async () => {
    port.close();
    await entry.close();
    await owner.close();
  });

  interface Sent {
    introduction: PeerIntroduction;
    method?: string;
    path: string;
    headers?: Record<string, string>;
    body?: unknown;
  }
  /** What another server could send to the owner. */
  async function toOwner({ introduction, body, ...asked }: Sent) {
    const agent = new PeerAgent({ address: port.address, key: port.key }, introduction);
    const headers = { 'content-type': 'application/json', ...asked.headers };
    const sent = request({ agent, ...asked, headers }).end(body && JSON.stringify(body));
    const opened = once(sent, 'upgrade').then(([, socket]: Socket[]) => {
      socket?.destroy();
      throw new Error('It was accepted as a socket.');
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    const [reply] = await Promise.race([answered, opened]);
    return { status: reply.statusCode, text: await text(reply) };
  }
  const by = (id: string, api: ApiName = 'mcp'): PeerIntroduction => ({
    address: '10.0.0.9',
    kind: 'caller',
    caller: { id, api },
  });
  const relayed: PeerIntroduction = { address: '10.0.0.9', kind: 'request' };
  const as = (caller: Caller, api: ApiName): Caller => ({
    ...caller,
    via: { api, address: '10.0.0.9' },
  });
  const audited = async (server: TestServer, action: string) => {
    const { entries } = await server.json<AuditPage>('GET', '/api/audit?limit=50');
    return entries.filter((each) => each.action === action);
  };
  const post = (path: string, token?: string) =>
    entry.fetch(path, {
      method: 'POST',
      body: JSON.stringify({ text: 'Hello' }),
      headers: { 'content-type': 'application/json' },
      ...(token !== undefined && { token }),
    });

  describe('by its path', () => {
    it('is answered by its server, which checks the caller and keeps the record', async () => {
      const answer = await entry.json('GET', `/api/sessions/${session}`);
      expect(answer).toEqual(await owner.json('GET', `/api/sessions/${session}`));
      const before = (await audited(owner, 'sessions.message')).length;
      const path = `/api/sessions/${session}/messages`;
      expect((await post(path)).ok).toBe(true);
      const { status } = await post(path, owner.viewerToken);
      expect(status).toBe(403);
      const after = await audited(owner, 'sessions.message');
      expect(after.slice(0, after.length - before).map(({ outcome }) => outcome)).toEqual([
        'forbidden',
        'ok',
      ]);
      expect(after[0]).toMatchObject({ caller: 'viewer', api: 'rest', address: '127.0.0.1' });
      expect(await audited(entry, 'sessions.message')).toEqual([]);
    });

    it('is found by every spelling that the router accepts', async () => {
      const encoded = `%${session.charCodeAt(0).toString(16)}${session.slice(1)}`;
      for (const path of [`/api/sessions/${encoded}`, `/api/sessions/${session}/`])
        expect((await entry.fetch(path)).status).toBe(200);
      const wrong = await entry.fetch('/api/sessions/%zz');
      expect(wrong.status).toBe((await owner.fetch('/api/sessions/%zz')).status);
    });

    it('is nothing to strangers, and to pages of other sites', async () => {
      expect((await entry.fetch(`/api/sessions/${session}`, { token: 'wrong' })).status).toBe(401);
      const path = `/api/sessions/${session}`;
      const headers = { origin: 'http://evil.example' };
      expect((await entry.fetch(path, { headers })).status).toBe(403);
    });

    it('is passed on once, and never by a server that does not work on it', async () => {
      const authorization = `Bearer ${owner.token}`;
      const headers = { authorization };
      const here = { introduction: relayed, path: `/api/sessions/${session}`, headers };
      expect((await toOwner(here)).status).toBe(200);
      const elsewhere = { ...here, path: '/api/sessions/another' };
      expect((await owner.fetch('/api/sessions/another')).status).toBe(404);
      expect(await toOwner(elsewhere)).toMatchObject({
        status: 503,
        text: expect.stringContaining('"code":"unavailable"'),
      });
    });

    itLong(
      'of a caller whom its server does not know yet is waited for, and then unavailable',
      async () => {
        const headers = { authorization: 'Bearer unknown' };
        const early = { introduction: relayed, path: `/api/sessions/${session}`, headers };
        const body = { name: 'message', input: { session, text: 'x' } };
        const command = { method: 'POST', path: '/peers/commands', body };
        const unknown = { ...command, introduction: by('user:gone') };
        const answers = await Promise.all([toOwner(early), toOwner(unknown)]);
        expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      },
    );

    it('has nothing hidden in its body', async () => {
      const seen: string[] = [];
      const note = ({ method, url }: IncomingMessage): void => void seen.push(`${method} ${url}`);
      const http = owner.app.getHttpServer() as Server;
      http.on('request', note);
      const { port: at, hostname } = new URL(entry.url);
      const token = `authorization: Bearer ${owner.viewerToken}`;
      const hidden = [`GET /api/sessions HTTP/1.1`, 'host: localhost', token, '', ''].join('\r\n');
      for (const named of ['content-length', 'Content-Length, x', 'transfer-encoding']) {
        const asked = [
          `POST /api/sessions/${session}/messages HTTP/1.1`,
          `host: ${hostname}:${at}`,
          token,
          `connection: ${named}`,
          `content-length: ${hidden.length}`,
          '',
          hidden,
        ].join('\r\n');
        const socket = connect(Number(at), hostname);
        socket.write(asked);
        expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 4/);
        socket.destroy();
      }
      http.off('request', note);
      expect(new Set(seen)).toEqual(new Set([`POST /api/sessions/${session}/messages`]));
    });

    it('is all that a connection of another server is for', async () => {
      const headers = { authorization: `Bearer ${owner.token}` };
      const routes = { request: relayed, caller: by('owner') };
      for (const introduction of Object.values(routes))
        for (const path of ['/api/sessions', '/gpt/agents', '/health'])
          expect((await toOwner({ introduction, path, headers })).status).toBe(404);
      const path = `/api/sessions/${session}`;
      expect((await toOwner({ introduction: by('owner'), path, headers })).status).toBe(404);
    });

    it.each(['/ws', '/acp', '/agent', '/socket/?EIO=4&transport=websocket'])(
      'is not asked over a socket at %s',
      async (path) => {
        const headers = {
          authorization: `Bearer ${owner.token}`,
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        };
        // In the name of a caller, servers follow sessions over the dashboard’s socket.
        const introductions = path.startsWith('/socket') ? [relayed] : [relayed, by('owner')];
        for (const introduction of introductions) {
          const { status, text } = await toOwner({ introduction, path, headers });
          expect(status).toBeGreaterThanOrEqual(400);
          expect(text).toContain('nothing else');
        }
      },
    );

    it('is unavailable while its server does not answer', async () => {
      address = nowhere;
      const answer = await entry.json('GET', `/api/sessions/${session}`);
      expect(answer).toMatchObject({ status: 503, code: 'unavailable' });
      expect((await post(`/api/sessions/${session}/messages`)).status).toBe(503);
      const [entered] = await audited(entry, 'sessions.message');
      expect(entered).toMatchObject({
        caller: 'owner',
        api: 'rest',
        session,
        outcome: 'unavailable',
      });
    });

    it.each([
      ['before its answer', ''],
      ['in its answer', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'],
    ])('is recorded as unavailable when its server ends %s', async (_, answered) => {
      const before = (await audited(entry, 'sessions.message')).length;
      const ending = await endingServer(answered);
      address = ending.address;
      const ask = () => post(`/api/sessions/${session}/messages`).then((reply) => reply.text());
      await ask().catch(() => 'cut off');
      ending.close();
      // The control: that server has the entry of what it answers.
      address = port.address;
      await ask();
      const found = await until('it is recorded', async () => {
        const all = await audited(entry, 'sessions.message');
        return all.length > before && all.slice(0, all.length - before);
      });
      const lost = { caller: 'owner', api: 'rest', session, outcome: 'unavailable' };
      expect(found).toMatchObject([lost]);
    });
  });

  describe('by a command', () => {
    const commands = () => entry.app.get(SessionCommands);
    const { signal } = new AbortController();

    it('is carried out by its server in the caller’s name, and recorded once', async () => {
      const before = (await audited(owner, 'sessions.message')).length;
      const input = { session, text: 'Over MCP' };
      const caller = as(ownerCaller, 'mcp');
      const call = commands().call(caller, { name: 'message', input, signal });
      expect(await call).toMatchObject({ id: session });
      const after = await audited(owner, 'sessions.message');
      expect(after).toHaveLength(before + 1);
      expect(after[0]).toMatchObject({ caller: 'owner', api: 'mcp', address: '10.0.0.9' });
      const run = commands().run('message', { session, text: 'Over a GPT' } as never, { caller });
      expect(await run).toMatchObject({ id: session });
      expect(await audited(owner, 'sessions.message')).toHaveLength(before + 1);
      const here = await audited(entry, 'sessions.message');
      expect(here.filter(({ api }) => api !== 'rest')).toEqual([]);
    });

    it('fails as there', async () => {
      const input = { session, message: 999 };
      const caller = as(ownerCaller, 'ws');
      const there = await owner.app
        .get(SessionCommands)
        .call(caller, { name: 'withdraw', input, signal })
        .catch((error: unknown) => error);
      const here = commands().call(caller, { name: 'withdraw', input, signal });
      expect(await here.catch((error: unknown) => error)).toEqual(there);
      const operation = { name: 'files.read', input: { session }, signal };
      await expect(commands().call(caller, operation)).rejects.toMatchObject({
        code: 'invalid_input',
      });
      address = nowhere;
      await expect(
        commands().call(caller, { name: 'status', input, signal }),
      ).rejects.toMatchObject({ code: 'unavailable' });
    });

    it('is recorded as unavailable when its server does not answer, or no longer', async () => {
      const ending = await endingServer();
      const caller = as(ownerCaller, 'acp');
      const call = (name: string, input: object) =>
        commands().call(caller, { name, input: { session, ...input }, signal });
      for (const each of [nowhere, ending.address]) {
        address = each;
        for (const asked of [
          call('message', { text: 'x' }),
          call('files.mkdir', { path: 'made' }),
          call('files.read', { path: 'read' }),
          call('status', {}),
        ])
          await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
      }
      ending.close();
      // What it has answered, that server has recorded.
      address = port.address;
      await expect(call('withdraw', { message: 999 })).rejects.toMatchObject({ code: 'not_found' });
      const { entries } = await entry.json<AuditPage>('GET', '/api/audit?limit=50');
      const recorded = entries.filter(({ api }) => api === 'acp').toReversed();
      const lost = { caller: 'owner', address: '10.0.0.9', session, outcome: 'unavailable' };
      const message = { ...lost, action: 'sessions.message' };
      const folder = { ...lost, action: 'files.mkdir', subject: 'made' };
      expect(recorded).toMatchObject([message, folder, message, folder]);
    });

    it('is refused as its server refuses it', async () => {
      // A request has at most 16 MiB.
      const input = { session, path: 'large.txt', content: 'x'.repeat(17 * 2 ** 20) };
      const call = { name: 'files.write', input, signal };
      await expect(commands().call(as(ownerCaller, 'mcp'), call)).rejects.toMatchObject({
        code: 'too_large',
      });
    });

    itLong('is given up when its answer has no end', async () => {
      const piece = Buffer.alloc(2 ** 20, 'x');
      const answer = function* () {
        yield 'HTTP/1.1 200 OK\r\n\r\n';
        for (let sent = 0; sent < 100; sent += 1) yield piece;
      };
      const endless = createServer((socket) => {
        socket.once('data', () => socket.write('ok\n'));
        socket.on('data', (bytes) => {
          if (String(bytes).includes('POST')) pipeline(answer, socket, () => {});
        });
      });
      await once(endless.listen(0, '127.0.0.1'), 'listening');
      address = `127.0.0.1:${(endless.address() as AddressInfo).port}`;
      const call = { name: 'status', input: { session }, signal };
      await expect(commands().call(as(ownerCaller, 'mcp'), call)).rejects.toMatchObject({
        code: 'too_large',
      });
      endless.close();
    });

    it('tells the events of a wait, which ends when it is cancelled', async () => {
      const events: Event[] = [];
      const caller = as(ownerCaller, 'mcp');
      const stop = new AbortController();
      const waiting = commands().call(caller, {
        name: 'wait',
        input: { session, seconds: 50, limit: 1_000 },
        signal: stop.signal,
        onEvent: (event) => {
          events.push(event);
          stop.abort();
        },
      });
      await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
      expect(events[0]).toMatchObject({ seq: 1 });
    });

    it('has no more rights than its caller, whatever the headers say', async () => {
      const body = { name: 'message', input: { session, text: 'x' } };
      const headers = { authorization: `Bearer ${owner.token}` };
      const asked = { method: 'POST', path: '/peers/commands', headers, body };
      const answer = await toOwner({ ...asked, introduction: by('viewer') });
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'forbidden' } });
      const unchecked = { ...body, isAudited: true };
      const again = await toOwner({ ...asked, body: unchecked, introduction: by('viewer') });
      expect(JSON.parse(again.text)).toMatchObject({ error: { code: 'forbidden' } });
      const input = { session, text: 'x' };
      const viewing = commands().call(as(viewerCaller, 'mcp'), { name: 'message', input, signal });
      await expect(viewing).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('is not passed on by a server that does not work on the session', async () => {
      const body = { name: 'status', input: { session: 'another' } };
      const asked = { method: 'POST', path: '/peers/commands', body };
      const answer = await toOwner({ ...asked, introduction: by('owner') });
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'unavailable' } });
    });

    it('is taken from servers alone', async () => {
      const body = JSON.stringify({ name: 'status', input: { session } });
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', body, headers };
      for (const token of [owner.token, owner.viewerToken, ''])
        expect((await owner.fetch('/peers/commands', { ...init, token })).status).toBe(404);
      const authorization = `Bearer ${owner.token}`;
      const asked = { method: 'POST', path: '/peers/commands', headers: { authorization } };
      expect((await toOwner({ ...asked, introduction: relayed })).status).toBe(404);
      expect(await (await owner.fetch('/openapi.json')).text()).not.toContain('/peers/');
    });
  });
});
