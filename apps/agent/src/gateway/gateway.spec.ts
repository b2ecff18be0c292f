import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { agentCalls, AppError, serverCalls, type StreamMeta } from '@belay/protocol';
import { memoryConnections, type RpcStream } from '@belay/rpc';
import { staysTrue, until } from '@belay/testing';
import { streamedReply } from '../testing/streamed-reply.js';
import { startGateway, type Gateway } from './gateway.js';

type Answer = (stream: RpcStream, request: StreamMeta<'model'>) => void;

describe('the model gateway in a sandbox', () => {
  const { server, agent } = memoryConnections({ server: serverCalls, agent: agentCalls });
  const requests: StreamMeta<'model'>[] = [];
  let answer: Answer;
  let gateway: Gateway;
  beforeAll(async () => {
    server.accept('model', async (request, stream) => {
      requests.push(request);
      answer(stream, request);
    });
    gateway = await startGateway({ open: (request) => agent.open('model', request), port: 0 });
  });
  afterAll(async () => {
    await gateway.close();
    await Promise.all([agent.close(), server.close()]);
  });
  beforeEach(() => requests.splice(0));
  const send = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${gateway.port}${path}`, init);
  const own = () => ({ authorization: `Bearer ${gateway.token}` });

  it('passes requests and replies on, without the token', async () => {
    const long = 'ü'.repeat(2 * 2 ** 20);
    let body = '';
    answer = (stream) =>
      void text(stream).then((sent) => {
        body = sent;
        stream.write(streamedReply('', { status: 203, headers: { 'content-type': 'text/plain' } }));
        stream.end(long);
      });
    const response = await send(`/anthropic/v1/messages?beta=true&key=${gateway.token}`, {
      method: 'POST',
      body: long,
      headers: { ...own(), 'x-api-key': gateway.token, 'anthropic-version': '1', cookie: 'a=1' },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([203, 'text/plain']);
    expect(await response.text()).toBe(long);
    expect(body).toBe(long);
    expect(requests).toMatchObject([
      {
        method: 'POST',
        path: '/anthropic/v1/messages?beta=true',
        headers: { 'anthropic-version': '1' },
      },
    ]);
    expect(JSON.stringify(requests)).not.toContain(gateway.token);
    expect(requests[0]?.headers).not.toHaveProperty('cookie');
  });

  it.each([
    ['x-api-key', (token: string) => ({ headers: { 'x-api-key': token } })],
    ['x-goog-api-key', (token: string) => ({ headers: { 'x-goog-api-key': token } })],
    ['key', (token: string) => ({ query: `?key=${token}` })],
  ])('takes the token as %s, and nothing else', async (_, given) => {
    answer = (stream) => void stream.end(streamedReply(''));
    const with_ = (token: string) => {
      const { headers, query = '' }: { headers?: Record<string, string>; query?: string } =
        given(token);
      return send(`/openai/v1/models${query}`, headers ? { headers } : {});
    };
    expect((await with_(gateway.token)).status).toBe(200);
    for (const wrong of ['', 'a', `${gateway.token}a`, 'x'.repeat(gateway.token.length)])
      expect((await with_(wrong)).status).toBe(401);
    expect(requests).toHaveLength(1);
  });

  it('does not make a reply that broke off look complete', async () => {
    answer = (stream) => {
      stream.write(streamedReply('half'));
      stream.once('finish', () => undefined);
      setImmediate(() => stream.destroy(new AppError('model_failed', 'The provider is gone.')));
    };
    const reply = send('/openai/v1/models', { headers: own() }).then((response) => response.text());
    await expect(reply).rejects.toThrow();
    answer = (stream) => void stream.destroy(new AppError('unavailable', 'Gone.'));
    const refused = await send('/openai/v1/models', { headers: own() });
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('Gone.')]);
  });

  it('ends the call of a client that leaves', async () => {
    let isOver = false;
    answer = (stream) => {
      stream.resume().once('close', () => (isOver = true));
      stream.write(streamedReply(''));
    };
    const leave = new AbortController();
    const response = await send('/openai/v1/responses', {
      method: 'POST',
      body: '{}',
      headers: own(),
      signal: leave.signal,
    });
    leave.abort();
    await expect(response.text()).rejects.toThrow();
    await until('the stream is closed', () => isOver);
  });

  it('refuses what is not a plain request, and takes a look for what it is', async () => {
    expect((await send('/anthropic', { method: 'HEAD' })).status).toBe(200);
    expect((await send('/openai/v1/models', { method: 'DELETE', headers: own() })).status).toBe(
      405,
    );
    expect((await send('/a', { headers: { 'x-a': 'a'.repeat(20_000) } })).status).toBe(431);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      'GET /openai/v1/responses HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    );
    expect(await text(socket)).toContain('426 Upgrade Required');
    expect(requests).toEqual([]);
  });

  it('asks at once, and passes nothing of the reply on before earlier changes are recorded', async () => {
    const recorded = Promise.withResolvers<void>();
    const other = await startGateway({
      port: 0,
      beforeReply: () => recorded.promise,
      open: (request) => agent.open('model', request),
    });
    const order: string[] = [];
    answer = (stream) => {
      order.push('asked');
      stream.end(streamedReply('reply'));
    };
    const headers = { authorization: `Bearer ${other.token}` };
    const reply = fetch(`http://127.0.0.1:${other.port}/a`, { headers }).then((response) => {
      order.push('replied');
      return response.text();
    });
    await until('the model is asked', () => order.includes('asked'));
    // The gateway answers others meanwhile.
    expect((await fetch(`http://127.0.0.1:${other.port}/`, { method: 'HEAD' })).status).toBe(200);
    await staysTrue('nothing is passed on', 100, () => !order.includes('replied'));
    order.push('recorded');
    recorded.resolve();
    expect(await reply).toBe('reply');
    expect(order).toEqual(['asked', 'recorded', 'replied']);
    await other.close();
  });

  it('says so when its port is taken', async () => {
    const second = startGateway({ open: () => Promise.reject(), port: gateway.port });
    await expect(second).rejects.toThrow(`cannot listen on port ${gateway.port}`);
  });
});
