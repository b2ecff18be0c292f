import { request } from 'node:http';
import { sampled } from '@belay/testing';
import { TestServer } from '../testing/server.js';
import { waysInto } from '../testing/ways-in.js';
import { AccessGuard } from './auth/access.guard.js';

/** Other spellings of a path, which a router may take for the same and a check of text may not. */
const spellings: Record<string, (path: string) => string> = {
  'capital letters': (path) => path.toUpperCase(),
  'two slashes': (path) => `/${path}`,
  'an encoded slash': (path) => path.replace(/(?<=.)\//, '%2f'),
  'one capital letter': (path) => path.replace(/[a-z]/, (letter) => letter.toUpperCase()),
  'two slashes later': (path) => path.replace(/(?<=.)\//, '//'),
  'an encoded letter': (path) =>
    path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  'a dot': (path) => `/.${path}`,
  'a way back': (path) => `/x/..${path}`,
  'a backslash': (path) => path.replace(/(?<=.)\//, '\\'),
  'a parameter': (path) => path.replace(/(?<=.)\//, ';x=1/'),
};

describe('attacks: other spellings of a path', () => {
  const server = new TestServer();
  let reached = 0;
  beforeAll(async () => {
    await server.start({ BELAY_REQUESTS_PER_SECOND: '0' });
    const { canActivate } = AccessGuard.prototype;
    jest.spyOn(AccessGuard.prototype, 'canActivate').mockImplementation(function (
      this: AccessGuard,
      context,
    ) {
      reached += 1;
      return canActivate.call(this, context);
    });
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await server.close();
  });

  it.each(sampled(3, Object.keys(spellings)))('with %s reach no route', async (name) => {
    const spelled = spellings[name] ?? String;
    for (const { method, path } of waysInto(server)) {
      const filled = path.replaceAll(/:\w+/g, 'x');
      const other = spelled(filled);
      if (other === filled) continue;
      reached = 0;
      await sent(server, { method, path: other });
      expect({ method, other, reached }).toEqual({ method, other, reached: 0 });
      // The control: as it is spelled in the contract.
      await sent(server, { method, path: filled });
      expect({ method, filled, reached }).toEqual({ method, filled, reached: 1 });
    }
  });
});

describe('attacks: requests without end', () => {
  const server = new TestServer();
  beforeAll(() => server.start({ BELAY_REQUESTS_PER_SECOND: '1' }));
  afterAll(() => server.close());

  it.each(['/api/sessions/x/stop', '/API/SESSIONS/x/stop', '//api/sessions/x/stop'])(
    'to %s are limited, or reach nothing',
    async (path) => {
      const statuses = new Set<number>();
      for (let count = 0; count < 30; count += 1)
        statuses.add(await sent(server, { method: 'POST', path }));
      expect(statuses.has(404) || statuses.has(429)).toBe(true);
      expect((await server.fetch('/api/me')).status).toBe(200);
    },
  );

  it('refuse no right secret that comes from the same address', async () => {
    for (let count = 0; count < 30; count += 1)
      await sent(server, { method: 'GET', path: '/api/sessions' });
    expect(await sent(server, { method: 'GET', path: '/api/sessions' })).toBe(429);
    const { token } = await server.json<{ token: string }>('POST', '/api/machines', {
      name: 'laptop',
    });
    const description = { host: 'h', os: 'Linux', arch: 'x64', kind: 'container' };
    const join = (secret: string) =>
      server.fetch('/api/machines/join', {
        method: 'POST',
        token: '',
        body: JSON.stringify({ token: secret, description }),
        headers: { 'content-type': 'application/json' },
      });
    expect((await join('guess')).status).toBe(401);
    expect((await join(token)).status).toBe(201);
  });
});

/** By `node:http`, because fetch would tidy the path; resolves with the status. */
const sent = (server: TestServer, { method, path }: { method: string; path: string }) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    request({ hostname, port, path, method }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .once('error', reject)
      .end();
  });
