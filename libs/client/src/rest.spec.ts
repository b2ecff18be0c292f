import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from './rest.js';

const summary = {
  id: 's1',
  title: 'x',
  task: 'x',
  model: 'scripted:a',
  image: null,
  sandbox: 'hardened',
  state: 'starting',
  reason: null,
  created: '2026-01-01T00:00:00.000Z',
  updated: '2026-01-01T00:00:00.000Z',
  lastSeq: 1,
  steps: 0,
  tokens: 0,
  dollars: 0,
  compactions: 0,
  openRequests: 0,
  contextTokens: 0,
  contextWindow: null,
  budgets: { steps: 100, tokens: null, dollars: null, seconds: null },
  approvals: 'ask',
  current: null,
  waitingFor: [],
  question: null,
  options: [],
  attention: null,
  plan: null,
  forkedFrom: null,
  agent: null,
  machine: null,
  mounts: [],
  comparison: null,
  modelError: null,
  published: null,
  cloned: false,
  check: null,
  network: null,
  tags: [],
  archived: false,
  activity: { last: 0, counts: [] },
  wallTime: { seconds: 0, since: null },
  workTime: { seconds: 0, since: null },
};

describe('the REST client', () => {
  let server: Server;
  let url: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  beforeAll(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  it('sends the token and a JSON body, and reads JSON', async () => {
    const seen: unknown[] = [];
    answer = (request, response) => {
      request.setEncoding('utf8').on('data', (body) => seen.push(body));
      seen.push(request.method, request.url, request.headers.authorization);
      request.on('end', () => response.end(JSON.stringify(summary)));
    };
    const client = createClient({ url, token: 't' });
    expect(await client.sessions.create({ task: 'x', model: 'scripted:a' })).toEqual(summary);
    expect(seen).toEqual([
      'POST',
      '/api/sessions',
      'Bearer t',
      '{"task":"x","model":"scripted:a"}',
    ]);
  });

  it('refuses a response that does not match the route’s schema', async () => {
    answer = (_, response) => void response.end('{"id":"s1"}');
    await expect(createClient({ url }).sessions.get('s1')).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('GET /api/sessions/:id'),
    });
  });

  it('checks the output of an operation as it enters', async () => {
    const asked: (string | undefined)[] = [];
    const time = { time: '2026-01-01T00:00:00Z', zone: 'UTC' };
    let body: unknown = time;
    answer = (request, response) => {
      asked.push(request.url);
      response.end(JSON.stringify(body));
    };
    const { sessions } = createClient({ url });
    expect((await sessions.call('a b', 'system.time', {})).zone).toBe('UTC');
    body = { ...time, zone: 3 };
    await expect(sessions.call('a b', 'system.time', {})).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('The output of system.time is broken: zone'),
    });
    expect(asked[0]).toBe('/api/sessions/a%20b/operations/system.time');
  });

  it('puts path, body and query where the route has them', async () => {
    const seen: unknown[] = [];
    answer = (request, response) => {
      request.setEncoding('utf8').on('data', (body) => seen.push(body));
      seen.push(`${request.method} ${request.url}`, request.headers['content-type']);
      request.on('end', () => response.writeHead(204).end());
    };
    const { sessions } = createClient({ url });
    await sessions.answer('s', 'call/1', { verdict: 'approved' });
    await sessions.terminal('s', 'main', { from: 4, to: undefined });
    await sessions.stop('s');
    expect(seen).toEqual([
      'POST /api/sessions/s/approvals/call%2F1',
      'application/json',
      '{"verdict":"approved"}',
      'GET /api/sessions/s/terminals/main?from=4',
      undefined,
      'POST /api/sessions/s/stop',
      undefined,
    ]);
  });

  it('rebuilds the error of a problem document', async () => {
    answer = (_, response) => {
      response.writeHead(404, { 'content-type': 'application/problem+json' });
      response.end(
        '{"type":"about:blank","status":404,"code":"not_found","detail":"There is no session x."}',
      );
    };
    await expect(createClient({ url }).sessions.get('x')).rejects.toMatchObject({
      name: 'AppError',
      code: 'not_found',
      message: 'There is no session x.',
    });
  });

  it('fails with a clear error when another server or none answers', async () => {
    answer = (_, response) => void response.writeHead(502, 'Bad Gateway').end('<html>proxy</html>');
    await expect(createClient({ url }).sessions.list()).rejects.toThrow(
      '502 Bad Gateway: <html>proxy',
    );
    await expect(createClient({ url: 'http://127.0.0.1:1' }).sessions.list()).rejects.toMatchObject(
      {
        code: 'unavailable',
        message: expect.stringContaining('No Belay server answers at http://127.0.0.1:1'),
      },
    );
  });

  it('reports a benchmark run and asks what changed since a report', async () => {
    const seen: string[] = [];
    answer = (request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end('{"seq":7,"trials":[]}');
    };
    const { evaluations } = createClient({ url });
    await evaluations.report('a b', { epoch: 1 });
    await evaluations.trials('r', { after: 7 });
    await evaluations.remove('r');
    expect(seen).toEqual([
      'POST /api/evaluations/a%20b/reports',
      'GET /api/evaluations/r/trials?after=7',
      'DELETE /api/evaluations/r',
    ]);
  });

  it('sends what only reads once more when a kept connection is reset, and nothing else', async () => {
    const seen: string[] = [];
    answer = (request, response) => {
      seen.push(`${request.method}`);
      if (seen.length === 2) request.socket.resetAndDestroy();
      else response.end('[]');
    };
    const { sessions } = createClient({ url });
    await sessions.list();
    expect(await sessions.list()).toEqual([]);
    expect(seen.splice(0)).toEqual(['GET', 'GET', 'GET']);
    await sessions.list();
    await expect(sessions.pause('s')).rejects.toMatchObject({ code: 'unavailable' });
    expect(seen).toEqual(['GET', 'POST']);
  });

  it('carries bytes both ways', async () => {
    answer = (request, response) => {
      if (request.method === 'GET') return void response.end(Buffer.from([0, 255, 7]));
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () =>
        response.end(JSON.stringify({ workspace: Buffer.concat(chunks).toString('hex') })),
      );
    };
    const client = createClient({ url });
    expect([...(await client.sessions.patch('s'))]).toEqual([0, 255, 7]);
    expect(await client.uploads.workspace(new Uint8Array([1, 0, 2]))).toEqual({
      workspace: '010002',
    });
  });
});
