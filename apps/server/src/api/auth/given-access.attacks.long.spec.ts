import { createHash } from 'node:crypto';
import type { MadeToken, NewToken, UserInfo } from '@belay/protocol';
import { TokensStore } from '../../access/tokens.store.js';
import { TestServer } from '../../testing/server.js';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

const again = 'another long password';

describe('attacks: access that outlives the one who gives it', () => {
  const server = new TestServer();
  let brief: MadeToken;
  let lasting: MadeToken;

  const send = async (token: string, method: string, path: string, body: object = {}) => {
    const answer = await server.fetch(path, {
      method,
      token,
      ...(method !== 'GET' && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await answer.text();
    return { status: answer.status, ...(text ? (JSON.parse(text) as Partial<MadeToken>) : {}) };
  };
  const make = (token: string, more: Partial<NewToken> = {}) =>
    send(token, 'POST', '/api/tokens', { label: 'made', scope: 'admin', ...more });
  /** A user with the scope admin, and a token that it made. */
  const admin = async (name: string) => {
    const user = { name, password: again, scope: 'admin' } as const;
    const { id } = (await send(server.token, 'POST', '/api/users', user)) as unknown as UserInfo;
    const { token } = await server.app
      .get(TokensStore)
      .create(
        { label: name, scope: 'admin', sessions: 'all', expires: null },
        { id: `user:${id}` },
      );
    return { id, token };
  };
  const isValid = async (token = '') => (await send(token, 'GET', '/api/me')).status === 200;

  beforeAll(async () => {
    await server.start();
    brief = (await make(server.token, { expires: inDays(1) })) as MadeToken;
    lasting = (await make(server.token)) as MadeToken;
  });
  afterAll(() => server.close());

  const refused = { status: 400, detail: expect.stringContaining('Your own token expires at') };

  it('tokens end no later than the token that makes them', async () => {
    for (const expires of [null, inDays(2)])
      expect(await make(brief.token, { expires })).toMatchObject(refused);
    expect(await make(brief.token, { expires: inDays(0.5) })).toMatchObject({ status: 201 });
    expect(await make(lasting.token)).toMatchObject({ status: 201 });
  });

  it('no later secret is had by rotating either', async () => {
    for (const id of ['viewer', 'owner', lasting.id])
      expect(await send(brief.token, 'POST', `/api/tokens/${id}/rotate`)).toMatchObject(refused);
    expect(await isValid(server.token)).toBe(true);
    const sooner = await make(server.token, { expires: inDays(0.5) });
    const rotated = await send(brief.token, 'POST', `/api/tokens/${sooner.id}/rotate`);
    expect(await isValid(rotated.token)).toBe(true);
  });

  it('users and applications do not end, so such a token makes none', async () => {
    const user = { name: 'mallory', password: 'a long password', scope: 'admin' };
    expect(await send(brief.token, 'POST', '/api/users', user)).toMatchObject(refused);
    const ada = await send(server.token, 'POST', '/api/users', { ...user, name: 'ada' });
    expect(ada.status).toBe(201);
    const change = { password: 'another password' };
    expect(await send(brief.token, 'PATCH', `/api/users/${ada.id}`, change)).toMatchObject(refused);
    const redirect = 'http://127.0.0.1/back';
    const registered = await send('', 'POST', '/oauth/register', {
      client_name: 'Chat',
      redirect_uris: [redirect],
    });
    const consent = {
      allow: true,
      grant: 'operate',
      sessions: 'own',
      response_type: 'code',
      client_id: (registered as Record<string, unknown>)['client_id'],
      redirect_uri: redirect,
      code_challenge: createHash('sha256').update('v').digest('base64url'),
      code_challenge_method: 'S256',
    };
    expect(await send(brief.token, 'POST', '/oauth/consents', consent)).toMatchObject(refused);
    expect(await send(lasting.token, 'POST', '/oauth/consents', consent)).toMatchObject({
      redirect: expect.stringContaining('code='),
    });
  });

  it('codes of applications are worth nothing once the one who allowed them is gone', async () => {
    const redirect = 'http://127.0.0.1/back';
    const registered = await send('', 'POST', '/oauth/register', {
      client_name: 'Chat',
      redirect_uris: [redirect],
    });
    const client = String((registered as Record<string, unknown>)['client_id']);
    const allowed = async (token: string) => {
      const consent = {
        allow: true,
        grant: 'operate',
        sessions: 'own',
        response_type: 'code',
        client_id: client,
        redirect_uri: redirect,
        code_challenge: createHash('sha256').update('v'.repeat(43)).digest('base64url'),
        code_challenge_method: 'S256',
      };
      const answer = await send(token, 'POST', '/oauth/consents', consent);
      const to = new URL(String((answer as Record<string, unknown>)['redirect']));
      return to.searchParams.get('code') ?? '';
    };
    const exchange = async (code: string) => {
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        client_id: client,
        redirect_uri: redirect,
        code_verifier: 'v'.repeat(43),
      });
      return (await server.fetch('/oauth/token', { method: 'POST', body, token: '' })).status;
    };
    const maker = (await make(server.token)) as MadeToken;
    const [kept, late] = [await allowed(maker.token), await allowed(maker.token)];
    expect(await exchange(kept)).toBe(200);
    await send(server.token, 'DELETE', `/api/tokens/${maker.id}`);
    expect(await exchange(late)).toBe(400);
    const ada = await admin('lovelace');
    const [used, unused] = [await allowed(ada.token), await allowed(ada.token)];
    expect(await exchange(used)).toBe(200);
    await send(server.token, 'PATCH', `/api/users/${ada.id}`, { scope: 'operate' });
    expect(await exchange(unused)).toBe(400);
  });

  it('what an admin gave ends when the admin becomes an ordinary user', async () => {
    const { id, token } = await admin('curie');
    const { token: made } = await make(token);
    expect(await isValid(made)).toBe(true);
    await send(server.token, 'PATCH', `/api/users/${id}`, { scope: 'admin', password: again });
    expect(await isValid(made)).toBe(true);
    await send(server.token, 'PATCH', `/api/users/${id}`, { scope: 'operate' });
    expect(await isValid(made)).toBe(false);
  });

  it('the server’s own tokens are rotated by nobody whose rights may end', async () => {
    for (const id of ['viewer', 'owner'])
      expect(await send(lasting.token, 'POST', `/api/tokens/${id}/rotate`)).toMatchObject({
        status: 403,
        detail: expect.stringContaining('Only the main token'),
      });
    const { status } = await send(server.token, 'POST', '/api/tokens/viewer/rotate');
    expect(status).toBe(200);
  });

  it('tokens end with the user who made them, and not when that user gets a new password', async () => {
    const user = { name: 'hopper', password: 'a long password', scope: 'admin' } as const;
    const { id } = (await send(server.token, 'POST', '/api/users', user)) as unknown as UserInfo;
    const wanted = { label: 'CI', scope: 'view', sessions: 'all', expires: null } as const;
    const made = await server.app.get(TokensStore).create(wanted, { id: `user:${id}` });
    await send(server.token, 'PATCH', `/api/users/${id}`, { password: 'another password' });
    expect(await isValid(made.token)).toBe(true);
    await send(server.token, 'DELETE', `/api/users/${id}`);
    expect(await isValid(made.token)).toBe(false);
    expect(await isValid(lasting.token)).toBe(true);
  });
});
