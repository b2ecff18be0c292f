import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from './rest.js';

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
      request.on('end', () => response.end('{"id":"s1"}'));
    };
    const client = createClient({ url, token: 't' });
    expect(await client.sessions.create({ task: 'x', model: 'scripted:a' })).toEqual({ id: 's1' });
    expect(seen).toEqual([
      'POST',
      '/api/sessions',
      'Bearer t',
      '{"task":"x","model":"scripted:a"}',
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

  it('says so when something else answers, or nothing', async () => {
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
      response.end('{}');
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
    expect(await client.uploadWorkspace(new Uint8Array([1, 0, 2]))).toEqual({
      workspace: '010002',
    });
  });
});
