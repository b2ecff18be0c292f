import { request } from 'node:http';
import { dashboardSocket } from '../../testing/dashboard-socket.js';
import { TestServer } from '../../testing/server.js';

describe('attacks: a foreign page in the user’s browser', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  const own = () => ({ host: new URL(server.url).host, authorization: `Bearer ${server.token}` });
  const status = (headers: Record<string, string>, method = 'GET'): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(`${server.url}/api/sessions`, { method, headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.once('error', reject).end();
    });
  const joins = (extraHeaders: Record<string, string>): Promise<boolean> => {
    const socket = dashboardSocket(server.url, extraHeaders);
    return new Promise<boolean>((resolve) => {
      socket.on('connect', () => resolve(true));
      socket.on('connect_error', () => resolve(false));
    }).finally(() => socket.close());
  };

  it.each([
    ['another site', () => 'http://evil.example'],
    ['another site by TLS', () => 'https://evil.example'],
    ['a file or a frame without an origin', () => 'null'],
    ['another port', () => 'http://127.0.0.1:1'],
    ['no port', () => 'http://127.0.0.1'],
    ['another spelling of this machine', () => server.url.replace('127.0.0.1', 'localhost')],
    ['its IPv6 address', () => server.url.replace('127.0.0.1', '[::1]')],
    ['an address that begins like this one', () => `${server.url}.evil.example`],
    ['this one as a user’s name', () => `${server.url}@evil.example`],
    ['a name that begins like this one', () => 'http://127.0.0.1.evil.example'],
    ['no address at all', () => 'evil'],
    ['an extension', () => 'chrome-extension://abcdefghijklmnop'],
    ['nothing', () => ''],
  ])('is refused from %s', async (_, origin) => {
    const headers = { ...own(), origin: origin() };
    for (const method of ['GET', 'POST', 'DELETE']) expect(await status(headers, method)).toBe(403);
    expect(await joins(headers)).toBe(false);
    // The honest page beside it.
    expect(await status({ ...own(), origin: server.url })).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:4600',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'localhost@evil.example',
    'evil.example#127.0.0.1',
    '127.0.0.1/evil.example',
  ])('is refused under the name %j, to which it had its name rebound', async (host) => {
    expect([400, 403]).toContain(await status({ ...own(), host }));
    expect(await status(own())).toBe(200);
  });

  it('joins the socket from its own address', async () => {
    expect(await joins({ ...own(), origin: server.url })).toBe(true);
  });
});
