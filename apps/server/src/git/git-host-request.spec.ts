import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Config } from '../config.js';
import { Resolver } from '../egress/resolver.js';
import { GitHostRequests, hostWords, type GitHostCall } from './git-host-request.js';
import { GitHttp } from './git-http.js';
import { pollDelayOf } from './host-limit.js';
import { repositoryAddress } from './repository-address.js';

let answer: RequestListener;
const seen: { request: IncomingMessage; body: string }[] = [];
const server = createServer((request, response) => {
  void text(request).then((body) => {
    seen.push({ request, body });
    answer(request, response);
  });
});
const http = new GitHttp(new Config({}), new Resolver());
let host: string;
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await http.onApplicationShutdown();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen.length = 0;
});

const send = (call: Partial<GitHostCall> = {}) =>
  new GitHostRequests(http).send(
    {
      remote: {
        address: repositoryAddress(`http://${host}/acme/api`),
        credential: { user: 'x', token: 't0ken' },
        isTrusted: true,
      },
      host: {
        host,
        kind: 'github',
        api: null,
        user: null,
        scope: 'admin',
        private: true,
        insecure: true,
        token: true,
      },
      signal: AbortSignal.timeout(20_000),
    },
    { method: 'GET', path: 'repos/acme/api', ...call },
  );

it.each(['PUT', 'PATCH', 'DELETE', 'POST'] as const)(
  '%s sends a body with the token',
  async (method) => {
    answer = (_request, response) => response.writeHead(201, { etag: '"a"' }).end('{"id":1}');
    expect(await send({ method, body: { a: 1 } })).toMatchObject({
      status: 201,
      headers: { etag: '"a"' },
      body: { id: 1 },
    });
    expect(seen).toMatchObject([
      { body: '{"a":1}', request: { method, url: '/api/v3/repos/acme/api' } },
    ]);
    expect(seen[0]?.request.headers).toMatchObject({ authorization: 'Bearer t0ken' });
  },
);

it('follows one redirect within the host, with method and body', async () => {
  answer = ({ url }, response) =>
    url === '/api/v3/repos/acme/api'
      ? response.writeHead(307, { location: `http://${host}/api/v3/repositories/7` }).end()
      : response.end('{"id":7}');
  expect(await send({ method: 'PATCH', body: {} })).toMatchObject({ status: 200, body: { id: 7 } });
  expect(seen.map(({ request, body }) => `${request.method} ${body}`)).toEqual([
    'PATCH {}',
    'PATCH {}',
  ]);
});

it.each([
  'http://127.0.0.1:9/x',
  'https://example.com/',
  'http://user@HOST/x',
  '//[::1]/',
  'http://%/',
  undefined,
])('attacks: takes the token to no other place: %s', async (location) => {
  const headers = location === undefined ? {} : { location: location.replace('HOST', host) };
  answer = (_request, response) => response.writeHead(301, headers).end();
  await expect(send()).rejects.toMatchObject({ code: 'forbidden' });
  expect(seen).toHaveLength(1);
});

it('attacks: ends an answer that is too large', async () => {
  answer = (_request, response) => response.end(`"${'x'.repeat(8 * 2 ** 20)}"`);
  await expect(send()).rejects.toMatchObject({ code: 'unavailable' });
  answer = (_request, response) => response.end(`"${'x'.repeat(8 * 2 ** 20 - 2)}"`);
  expect((await send()).body).toHaveLength(8 * 2 ** 20 - 2);
});

describe('limits', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const date = new Date(now).toUTCString();
  it.each([
    [429, { 'retry-after': '7' }, {}, 7_000],
    [403, { 'retry-after': '30' }, {}, 30_000],
    [403, {}, { message: 'You have exceeded a secondary rate limit.' }, 60_000],
    [
      403,
      { date, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${now / 1000 + 90}` },
      {},
      90_000,
    ],
    [
      429,
      { date, 'ratelimit-remaining': '0', 'ratelimit-reset': `${now / 1000 + 12}` },
      {},
      12_000,
    ],
    [429, { 'retry-after': '99999999' }, {}, 3_600_000],
    [429, { date, 'retry-after': new Date(now + 5_000).toUTCString() }, {}, 5_000],
    [429, { 'retry-after': '-1' }, {}, 60_000],
  ])('%s %j %j', async (status, headers, body, retryAfterMs) => {
    answer = (_request, response) => response.writeHead(status, headers).end(JSON.stringify(body));
    await expect(send()).rejects.toMatchObject({
      code: 'limit_reached',
      details: { host, retryAfterMs },
    });
  });

  it('are not what a token may not', async () => {
    answer = (_request, response) =>
      response.writeHead(403, { 'x-ratelimit-remaining': '10' }).end('{"message":"No"}');
    expect(await send()).toMatchObject({ status: 403, body: { message: 'No' } });
  });

  it('say how long to wait before the next poll', () => {
    const of = (headers: Record<string, string>) =>
      pollDelayOf({ status: 200, headers, body: undefined });
    expect(of({})).toBeNull();
    expect(of({ 'x-poll-interval': '60' })).toBe(60_000);
    const left = { date, 'x-ratelimit-limit': '5000', 'x-ratelimit-reset': `${now / 1000 + 100}` };
    expect(of({ ...left, 'x-ratelimit-remaining': '4000' })).toBeNull();
    expect(of({ ...left, 'x-ratelimit-remaining': '700' })).toBe(100_000);
  });
});

it('quotes the words of each host', () => {
  expect(hostWords({ message: { base: ['is taken', 'is long'] } })).toBe('base is taken, is long');
  expect(hostWords({ message: 'Validation Failed', errors: ['Line', { message: 'Path' }] })).toBe(
    'Validation Failed; Line; Path',
  );
  expect(hostWords({ error: 'a is invalid' })).toBe('a is invalid');
  expect(hostWords('<html>')).toBe('');
});
