import { createHash } from 'node:crypto';
import { once, type EventEmitter } from 'node:events';
import { request } from 'node:http';
import {
  dashboardPath,
  includesScope,
  newEvent,
  sessionCommands,
  viewerRequests,
  type MadeToken,
  type NewToken,
} from '@belay/protocol';
import { until } from '@belay/testing';
import { dashboardSocket } from '../../testing/dashboard-socket.js';
import { TestServer } from '../../testing/server.js';
import { textUpTo } from '../../testing/text-up-to.js';
import { wayOf, waysInto, type WayIn } from '../../testing/ways-in.js';
import { SessionCommands } from '../commands/session-commands.js';
import { McpResources } from '../mcp/mcp-resources.js';
import { Upgrades } from '../upgrades.js';
import { Identity } from './identity.js';

/** Every path that takes upgrades, and what one without a token gets; 101 where it may be told in the first message. */
const upgrades: Record<string, { query?: string; withoutToken: number; withToken?: number }> = {
  [dashboardPath]: { query: '/?EIO=4&transport=websocket', withoutToken: 400 },
  // For joined machines, by a credential of their own: no token of a caller opens it.
  '/agent': { withoutToken: 401, withToken: 401 },
  '/ws': { withoutToken: 101 },
  '/acp': { withoutToken: 401 },
};
/** The dashboard’s and that of all others: another one would be an upgrade that nobody lists. */
const upgradeListeners = 2;

/** Open routes with a secret of their own, which no token replaces. */
const ownSecrets = ['/hooks/git/:source', '/hooks/run/:id'];

/** How an upgrade is refused: engine.io says 400 of everything. */
const refusals = [400, 401, 403];

type Who = 'nobody' | 'wrong' | 'expired' | 'revoked' | 'view' | 'limited' | 'admin';
const strangers = ['nobody', 'wrong', 'expired', 'revoked'] as const;
const secret = 'zebrafish';

describe('every way in', () => {
  const server = new TestServer();
  const tokens = {} as Record<Who, string>;
  let limitedId: string;
  let ways: WayIn[];
  let seen: string;
  let hidden: string;
  let blob: string;

  beforeAll(async () => {
    // It asks for every route at once, which a caller may not.
    await server.start({ BELAY_REQUESTS_PER_SECOND: '0' });
    ways = waysInto(server);
    seen = await server.session({ task: 'Count the otters' });
    hidden = await server.session({ task: `Count the ${secret}` });
    blob = (await (
      await server.fetch('/api/blobs', {
        method: 'POST',
        body: secret,
        headers: { 'content-type': 'text/plain', 'content-length': `${secret.length}` },
      })
    )
      .json()
      .then(({ blob: id }: { blob: string }) => id)) as string;
    await server.log.append(hidden, [
      newEvent('user', 'message', {
        args: { text: secret, images: [blob], delivery: 'queue' },
        message: secret,
      }),
    ]);
    await server.json('POST', '/api/rules', {
      scope: 'session',
      session: hidden,
      operation: 'terminal.run',
      pattern: `${secret} *`,
    });
    const make = (more: Partial<NewToken>) =>
      server.json<MadeToken>('POST', '/api/tokens', { label: 'test', scope: 'view', ...more });
    const [view, limited, admin, revoked] = [
      await make({}),
      await make({ scope: 'operate', sessions: [seen] }),
      await make({ scope: 'admin' }),
      await make({ scope: 'admin' }),
    ];
    let soon = new Date().toISOString();
    // A busy machine may take longer to make one, and one that has expired already is refused.
    const expired = await until('one that expires', async () => {
      soon = new Date(Date.now() + 500).toISOString();
      const made = await make({ scope: 'admin', expires: soon });
      return made.token ? made : undefined;
    });
    await server.json('DELETE', `/api/tokens/${revoked.id}`);
    limitedId = limited.id;
    Object.assign(tokens, {
      nobody: '',
      wrong: `blt_${'x'.repeat(43)}`,
      view: view.token,
      limited: limited.token,
      admin: admin.token,
      expired: expired.token,
      revoked: revoked.token,
    });
    await until('one has expired', () => Date.now() > Date.parse(soon));
  });
  afterAll(() => server.close());

  async function ask(
    { method, path }: WayIn,
    who: Who,
    session = 'no-such-session',
  ): Promise<{ status: number; text: string }> {
    const filled = path
      .replace(/^\/api\/sessions\/:\w+/, `/api/sessions/${session}`)
      .replace(/:session\b/, session)
      .replace(/:blob\b/, blob)
      .replaceAll(/:\w+/g, 'x');
    const query = filled === '/api/search' ? `?q=${secret}` : '';
    const answer = await server.fetch(filled + query, { method, token: tokens[who] });
    const text = await textUpTo(answer, () => server.log.lastSeq(session));
    return { status: answer.status, text };
  }

  it.each(strangers)('is closed to %s, but for what is open to all', async (who) => {
    expect(ways.length).toBeGreaterThan(50);
    for (const way of ways) {
      const { status } = await ask(way, who, seen);
      expect({ ...way, status }).toEqual({
        ...way,
        status: way.access === 'open' ? expect.any(Number) : 401,
      });
    }
  });

  it('opens by scope', async () => {
    for (const way of ways) {
      const found = await ask(way, 'view');
      const may = way.access === 'open' || includesScope('view', way.access);
      expect({ ...way, refused: found.status === 403 }).toEqual({ ...way, refused: !may });
      if (!ownSecrets.includes(way.path)) expect(found.status).not.toBe(401);
    }
  });

  it('has no session that a token may not see: as one that does not exist, in every word', async () => {
    for (const way of ways.filter(({ session }) => session !== undefined)) {
      const [real, none] = [await ask(way, 'limited', hidden), await ask(way, 'limited')];
      expect({ ...way, status: real.status }).toEqual({ ...way, status: 404 });
      expect(real.text.replaceAll(hidden, 'no-such-session')).toBe(none.text);
    }
  });

  it('gives such a token nothing of it by any other route', async () => {
    const reading = ways.filter(({ method, access }) => method === 'GET' || access === 'admin');
    for (const way of reading.filter(({ access }) => access !== 'open')) {
      const { status, text } = await ask(way, 'limited', seen);
      expect({ ...way, found: text.includes(secret) || text.includes(hidden) }).toEqual({
        ...way,
        found: false,
      });
      const isRefused = way.access === 'admin';
      if (isRefused) expect({ ...way, status }).toEqual({ ...way, status: 403 });
      expect(status).not.toBe(401);
    }
    const start = { task: 'x', model: 'scripted:x' };
    const created = await server.fetch('/api/sessions', {
      method: 'POST',
      token: tokens.limited,
      body: JSON.stringify(start),
      headers: { 'content-type': 'application/json' },
    });
    expect(created.status).toBe(403);
    // The controls: who sees all finds it in the same places.
    for (const path of ['/api/sessions', '/api/search', '/api/rules']) {
      const { text } = await ask(wayOf('GET', path), 'view');
      expect({ path, found: text.includes(hidden) }).toEqual({ path, found: true });
    }
    const picture = wayOf('GET', '/api/sessions/:id/blobs/:blob');
    expect((await ask(picture, 'view', seen)).text).toBe(secret);
  });

  it('opens to the scope admin', async () => {
    for (const way of ways.filter(({ method }) => method === 'GET')) {
      expect([401, 403]).not.toContain((await ask(way, 'admin', seen)).status);
    }
  });

  /** The status of an upgrade: 101, or that of the refusal. */
  const upgrade = (path: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(server.url + path, {
        agent: false,
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': createHash('md5').update(path).digest('base64'),
          ...headers,
        },
      });
      sent.once('upgrade', (_response, socket) => {
        socket.destroy();
        resolve(101);
      });
      sent.once('response', (response) => {
        sent.destroy();
        resolve(response.statusCode ?? 0);
      });
      sent.once('error', reject).end();
    });

  it('takes upgrades by the same rules', async () => {
    const { length } = (
      server.app.getHttpServer() as { listeners(event: string): unknown[] }
    ).listeners('upgrade');
    expect(length).toBe(upgradeListeners);
    const paths = [dashboardPath, ...server.app.get(Upgrades).paths];
    expect(paths.toSorted()).toEqual(Object.keys(upgrades).toSorted());
    for (const [at, { query = '', withoutToken, withToken = 101 }] of Object.entries(upgrades)) {
      const path = at + query;
      const by = (who: Who, more: Record<string, string> = {}) =>
        upgrade(path, {
          ...(tokens[who] && { authorization: `Bearer ${tokens[who]}` }),
          ...more,
        });
      expect(await by('nobody')).toBe(withoutToken);
      for (const who of strangers.slice(1)) expect(refusals).toContain(await by(who));
      for (const who of ['view', 'limited', 'admin'] as const)
        expect(await by(who)).toBe(withToken);
      expect(refusals).toContain(await by('admin', { origin: 'http://evil.example' }));
      expect(refusals).toContain(await by('admin', { host: 'evil.example' }));
    }
  });

  it('has no such session for the APIs that call commands either', async () => {
    const caller = server.app.get(Identity).callerOfToken(tokens.limited);
    if (!caller) throw new Error('It is a token.');
    const commands = server.app.get(SessionCommands);
    const { signal } = new AbortController();
    const ask = (name: string, session: string) => {
      const answer = { id: 'x', verdict: 'approved' };
      const back = { seq: 1, what: 'both' };
      // A fork’s message is an object: it is left out there.
      const message = name === 'fork' ? undefined : 1;
      const input = { session, text: 'x', path: 'x', message, ...answer, ...back };
      return commands.call(caller, { name, input, signal }).catch((error: unknown) => error);
    };
    const names = Object.entries(sessionCommands).filter(
      ([, { input }]) => 'session' in input.shape,
    );
    for (const name of [...names.map(([each]) => each), 'files.read']) {
      const [real, none] = [await ask(name, hidden), await ask(name, 'no-such-session')];
      expect({ name, real }).toMatchObject({ name, real: { code: 'not_found' } });
      expect(String(real).replace(hidden, 'no-such-session')).toBe(String(none));
    }
    const listed = [
      await commands.call(caller, { name: 'list', input: {}, signal }),
      await server.app.get(McpResources).list(caller),
    ];
    expect(JSON.stringify(listed)).not.toMatch(new RegExp(`${secret}|${hidden}`));
    expect(JSON.stringify(listed)).toContain(seen);
  });

  it('shows and does by the socket only what the token may', async () => {
    const socket = dashboardSocket(server.url, { authorization: `Bearer ${tokens.limited}` });
    const received: string[] = [];
    socket.onAny((name: string, notice: unknown) =>
      received.push(`${name} ${JSON.stringify(notice)}`),
    );
    const inputs: Record<string, object> = {
      watch: { after: 0 },
      'terminal.keys': { terminal: 'main', data: 'x' },
      'terminal.fit': { terminal: 'main', size: null },
      'terminal.hold': { terminal: 'main', holder: 'user' },
      'terminal.open': { terminal: 'main' },
      'browser.watch': { watched: true },
    };
    for (const name of Object.keys(viewerRequests)) {
      const of = async (session: string) =>
        (await socket.emitWithAck(name, { session, ...inputs[name] })) as {
          ok: boolean;
          error?: { message: string };
        };
      if (name === 'fleet' || name === 'evaluations') {
        expect(await of('')).toMatchObject({ ok: true });
        continue;
      }
      const [real, none] = [await of(hidden), await of('no-such-session')];
      expect({ name, ...real }).toMatchObject({ name, error: { code: 'not_found' } });
      expect(real.error?.message.replace(hidden, 'no-such-session')).toBe(none.error?.message);
    }
    await server.log.append(hidden, [newEvent('user', 'pause', { args: {}, message: secret })]);
    await server.log.append(seen, [newEvent('user', 'pause', { args: {}, message: 'Paused.' })]);
    await until('it was told of the other', () => received.some((line) => line.includes('paused')));
    expect(received.join('\n')).toContain(seen);
    expect(received.join('\n')).not.toMatch(new RegExp(`${secret}|${hidden}`));
    // Revoking it ends the socket, and a request that is under way.
    const upload = request(`${server.url}/api/blobs`, {
      agent: false,
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.limited}`, 'content-length': '1000' },
    });
    const ended = new Promise((resolve) => upload.once('error', resolve).once('close', resolve));
    const answers: unknown[] = [];
    upload.on('response', ({ statusCode }) => answers.push(statusCode));
    const arrived = once(server.app.getHttpServer() as EventEmitter, 'request');
    upload.write('beginning');
    await arrived;
    // A later request is answered after the guard has let this one in.
    await server.json('GET', '/api/tokens');
    await server.json('DELETE', `/api/tokens/${limitedId}`);
    await until('the socket is closed', () => !socket.connected);
    await ended;
    expect(answers).toEqual([]);
  });
});
