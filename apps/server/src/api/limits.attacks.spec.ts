import { once } from 'node:events';
import { request } from 'node:http';
import type { Answer } from '@belay/protocol';
import { itLong } from '@belay/testing';
import { WebSocket } from 'ws';
import { viewerCaller } from '../access/caller.js';
import { RequestBudget } from './limits/request-budget.js';
import { connected, dashboardSocket, type Socket } from '../testing/dashboard-socket.js';
import { TestServer } from '../testing/server.js';
import type * as stopped from './limits/testing/stopped-buckets.js';
import type * as buckets from './limits/token-bucket.js';

// So that nothing is added while requests are counted.
jest.mock('./limits/token-bucket.js', () =>
  jest
    .requireActual<typeof stopped>('./limits/testing/stopped-buckets.js')
    .stoppedBuckets(jest.requireActual<typeof buckets>('./limits/token-bucket.js')),
);

const mebibyte = 1024 * 1024;

describe('attacks: what a client sends', () => {
  const server = new TestServer();
  let session: string;
  beforeAll(async () => {
    await server.start();
    session = await server.session();
    server.sandboxes.answer = (name) =>
      name === 'files.list'
        ? { entries: [], untraversed: [] }
        : { path: 'a', size: 0, lines: 0, created: true };
  });
  afterAll(() => server.close());

  const post = (path: string, body: string, token = server.token) =>
    server.fetch(path, {
      method: 'POST',
      body,
      token,
      headers: { 'content-type': 'application/json' },
    });
  const call = (name: string) => `/api/sessions/${session}/operations/${name}`;

  /** Sends headers and `sent` bytes of a body that is said to be longer; resolves with the status. */
  const halfSent = (path: string, token: string, headers: Record<string, string>, sent: number) =>
    new Promise<number>((resolve, reject) => {
      const open = request(server.url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...headers,
        },
      });
      open.on('response', (response) => {
        resolve(response.statusCode ?? 0);
        open.destroy();
      });
      open.on('error', reject);
      open.write(Buffer.alloc(sent, ' '));
    });

  it('a viewer’s body is refused by its stated length, before it is sent', async () => {
    const headers = { 'content-length': `${78 * mebibyte}` };
    expect(await halfSent(call('files.list'), server.viewerToken, headers, 10)).toBe(413);
  });

  it('a viewer’s body of no stated length is refused while it is sent', async () => {
    const headers = { 'transfer-encoding': 'chunked' };
    expect(await halfSent(call('files.list'), server.viewerToken, headers, 100_000)).toBe(413);
  });

  it('a body of a route that the caller may not use is not read at all', async () => {
    const headers = { 'content-length': `${mebibyte}` };
    expect(await halfSent('/api/sessions', server.viewerToken, headers, 10)).toBe(403);
    expect(await halfSent('/api/sessions', 'wrong', headers, 10)).toBe(401);
  });

  it('a viewer’s honest call is served', async () => {
    const response = await post(call('files.list'), '{"path":"."}', server.viewerToken);
    expect([response.status, await response.json()]).toEqual([
      200,
      { entries: [], left: 0, untraversed: [] },
    ]);
  });

  it.each([
    ['a rule', '/api/rules', 256 * 1024],
    ['a session', '/api/sessions', 2 * mebibyte],
  ])('the body of %s has a limit of its own, with a problem document', async (_, path, limit) => {
    const response = await post(path, JSON.stringify({ x: 'x'.repeat(limit) }));
    expect(await response.json()).toMatchObject({
      status: 413,
      code: 'too_large',
      detail: `The request is larger than the limit of ${limit / 1024} KiB. Send less, or upload it as a file.`,
    });
  });

  itLong('the user’s task of 200,000 characters, and a file of 50 MB, are taken', async () => {
    const task = '\u0001'.repeat(200_000);
    const made = await server.json('POST', '/api/sessions', { task, model: 'scripted:x' });
    expect(made.status).toBe(201);
    const file = { path: 'a', content: 'x'.repeat(50_000_000) };
    expect((await post(call('files.write'), JSON.stringify(file))).status).toBe(200);
  });

  it('deep JSON is refused before it is parsed, and brackets in a text are fine', async () => {
    const levels = 100_000;
    const deep = `{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const response = await post(call('files.list'), deep);
    expect(await response.json()).toMatchObject({
      status: 400,
      detail: 'The JSON is nested deeper than 64 levels.',
    });
    const text = JSON.stringify({ path: `\\"${'['.repeat(1_000)}` });
    expect((await post(call('files.list'), text)).status).toBe(200);
  });

  it('a body is not inflated', async () => {
    const { gzipSync } = await import('node:zlib');
    const response = await server.fetch('/api/rules', {
      method: 'POST',
      body: gzipSync(Buffer.alloc(50 * mebibyte, ' ')),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect(response.status).toBe(400);
  });

  describe('over the socket', () => {
    const open: Socket[] = [];
    const connect = async (token: string): Promise<Socket> => {
      const socket = dashboardSocket(server.url, { authorization: `Bearer ${token}` });
      open.push(socket);
      return connected(socket);
    };
    afterEach(() => {
      for (const socket of open.splice(0)) socket.close();
    });
    const ask = async (socket: Socket, name: string, input: unknown): Promise<Answer> =>
      (await socket.emitWithAck(name, input)) as Answer;

    it('a viewer’s large packet ends its connection unread; a user’s keys are taken', async () => {
      const viewer = await connect(server.viewerToken);
      const ended = new Promise((resolve) => viewer.once('disconnect', resolve));
      viewer.emit('watch', { session, after: 0, more: 'x'.repeat(100_000) });
      await ended;
      const user = await connect(server.token);
      const keys = { session, terminal: 'main', data: 'x'.repeat(100_000) };
      expect(await ask(user, 'terminal.keys', keys)).toEqual({ ok: true, value: {} });
      const many = { session, terminal: 'main', data: 'x'.repeat(1_000_001) };
      expect(await ask(user, 'terminal.keys', many)).toMatchObject({ ok: false });
    });

    it('a viewer that asks without pause is refused, and another is served', async () => {
      const [fast, slow] = [await connect(server.viewerToken), await connect(server.viewerToken)];
      const asked = Array.from({ length: 400 }, () => ask(fast, 'unwatch', { session }));
      const refused = (await Promise.all(asked)).filter(({ ok }) => !ok);
      expect(refused).toHaveLength(200);
      expect(refused[0]).toMatchObject({ error: { code: 'limit_reached' } });
      expect(await ask(slow, 'watch', { session, after: 0 })).toEqual({ ok: true, value: {} });
    });

    it('what is asked of it may name no end of sessions or terminals', async () => {
      const viewer = await connect(server.viewerToken);
      const terminals = Object.fromEntries(Array.from({ length: 1_100 }, (_, at) => [`t${at}`, 0]));
      expect(await ask(viewer, 'watch', { session, after: 0, terminals })).toMatchObject({
        error: { code: 'invalid_input' },
      });
      const id = 'x'.repeat(10_000);
      expect(await ask(viewer, 'watch', { session: id, after: 0 })).toMatchObject({
        error: { code: 'invalid_input' },
      });
    });
  });

  it('a flood of requests over the plain WebSocket is answered with errors, then closed', async () => {
    const headers = { authorization: `Bearer ${server.viewerToken}` };
    const flood = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, { headers });
    let received = '';
    flood.on('message', (data: Buffer) => (received += data.toString()));
    const closed = once(flood, 'close');
    await once(flood, 'open');
    for (let at = 0; at < 1_000; at += 1) flood.send('{"action":"dance"}');
    expect((await closed)[0]).toBe(4429);
    expect(received).toContain('limit_reached');
  });

  it('a budget of requests fills again with time', () => {
    let now = 0;
    const budget = new RequestBudget(viewerCaller, () => now);
    for (let at = 0; at < 200; at++) expect(budget.take()).toBe(true);
    expect(budget.take()).toBe(false);
    now += 100;
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
  });
});
