import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import type { MadeToken } from '@belay/protocol';
import { itLong, PostgresCluster, until } from '@belay/testing';
import { Kysely, sql } from 'kysely';
import { ColdChanges } from '../storage/cold-changes.js';
import { listenerName } from '../storage/postgres-listener.js';
import { postgres } from '../storage/postgres.js';
import { connected, dashboardSocket } from '../testing/dashboard-socket.js';
import { loginPageOf } from '../testing/login-page.js';
import { TestServer } from '../testing/server.js';

describe('access to two servers of one database', () => {
  let cluster: PostgresCluster;
  let kysely: Kysely<never>;
  let env: Record<string, string>;
  const one = new TestServer();
  const other = new TestServer();
  beforeAll(async () => void (cluster = await PostgresCluster.start()));
  beforeEach(async () => {
    const url = await cluster.database();
    env = { DATABASE_URL: url, BELAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') };
    kysely = new Kysely({ dialect: postgres(url) });
    await one.start(env);
    await other.start(env);
  });
  afterEach(async () => {
    await kysely.destroy();
    for (const server of [one, other]) await server.close();
  });
  afterAll(() => cluster.stop());

  const made = (more: object = {}, by = one) =>
    by.json<MadeToken>('POST', '/api/tokens', { label: 'CI', scope: 'admin', ...more });
  const status = async (server: TestServer, token: string) =>
    (await server.fetch('/api/me', { token })).status;
  const becomes = (wanted: number, server: TestServer, token: string) =>
    until(`it is ${wanted}`, async () => {
      // A request whose caller just ends is cut off.
      const seen = await status(server, token).catch(() => undefined);
      return seen === wanted;
    });
  const listeners = async () =>
    (
      await sql<{ pid: number }>`select pid from pg_stat_activity
        where application_name = ${listenerName} and datname = current_database()`.execute(kysely)
    ).rows.map(({ pid }) => pid);

  it('follows each token: what is revoked or rotated on one is void on the other at once', async () => {
    const { id, token } = await made();
    await becomes(200, other, token);
    const socket = await connected(
      dashboardSocket(other.url, { authorization: `Bearer ${token}` }),
    );
    const ended = new Promise((resolve) => socket.once('disconnect', resolve));
    const child = await other.json<MadeToken>('POST', '/api/tokens', {
      label: 'child',
      scope: 'view',
    });
    const rotated = await one.json<MadeToken>('POST', `/api/tokens/${id}/rotate`);
    await becomes(401, other, token);
    await ended;
    await becomes(200, other, rotated.token);
    expect((await one.fetch(`/api/tokens/${id}`, { method: 'DELETE' })).status).toBe(204);
    await becomes(401, other, rotated.token);
    expect(await status(one, rotated.token)).toBe(401);
    // Of the owner, not of that token.
    expect(await status(other, child.token)).toBe(200);
    await other.fetch(`/api/tokens/${child.id}`, { method: 'DELETE' });
    await becomes(401, one, child.token);
  });

  itLong('has the same own tokens, also after a rotation and in the file of each', async () => {
    expect([other.token, other.viewerToken]).toEqual([one.token, one.viewerToken]);
    const before = one.token;
    const { token } = await other.json<MadeToken>('POST', '/api/tokens/owner/rotate');
    await becomes(401, one, before);
    await becomes(200, one, token);
    for (const { data } of [one, other])
      expect(readFileSync(join(data, 'server.json'), 'utf8')).toContain(token);
    // A file of another time does not count.
    writeFileSync(
      join(one.data, 'server.json'),
      JSON.stringify({ token: before, viewerToken: before }),
    );
    await one.restart(env);
    expect(await status(one, token)).toBe(200);
    expect(await status(one, before)).toBe(401);
  });

  itLong('follows users and their logins', async () => {
    const user = { name: 'ada', scope: 'operate', password: 'correct horse' };
    const { id } = await one.json<{ id: string }>('POST', '/api/users', user);
    const body = new URLSearchParams({
      name: 'ada',
      password: 'correct horse',
      to: '/',
    }).toString();
    const logIn = (server: TestServer) =>
      server.fetch('/login', {
        token: '',
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: server.url },
        body,
      });
    await until('the other knows it', async () => (await logIn(other)).status === 302);
    const { headers } = await loginPageOf(await logIn(other));
    const me = async (server: TestServer) =>
      (await server.fetch('/api/me', { token: '', headers })).status;
    expect(await me(other)).toBe(200);
    await until('the login counts on the first', async () => (await me(one)) === 200);
    await one.fetch(`/api/users/${id}`, { method: 'DELETE' });
    await until('it ended', async () => (await me(other)) === 401);
    expect((await logIn(other)).status).toBe(401);
  });

  it('attacks: finds out what was revoked while no server was listening', async () => {
    const { id, token } = await made();
    await becomes(200, other, token);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(kysely);
    await sql`delete from access_token where id = ${id}`.execute(kysely);
    for (const server of [one, other]) await becomes(401, server, token);
    await until('both listen again', async () => (await listeners()).length === 2);
    const next = await made();
    await becomes(200, other, next.token);
  });

  itLong(
    'attacks: admits nobody when a server receives nothing and cannot listen anew',
    async () => {
      const [kept, revoked] = [await made(), await made()];
      for (const { token } of [kept, revoked]) await becomes(200, other, token);
      const frozen: number[] = [];
      const freeze = (pid: number): void => {
        process.kill(pid, 'SIGSTOP');
        frozen.push(pid);
      };
      try {
        for (const pid of await listeners()) freeze(pid);
        await sql`delete from access_token where id = ${revoked.id}`.execute(kysely);
        await becomes(401, other, revoked.token);
        expect(await status(other, kept.token)).toBe(200);
        // Connections that exist go on; the database takes no further one.
        const { rows } = await sql<{ pid: string }>`
        select split_part(pg_read_file('postmaster.pid'), E'\n', 1) as pid`.execute(kysely);
        freeze(Number(rows[0]?.pid));
        for (const pid of await listeners()) if (!frozen.includes(pid)) freeze(pid);
        await becomes(503, other, kept.token);
      } finally {
        for (const pid of frozen) process.kill(pid, 'SIGCONT');
      }
      await becomes(200, other, kept.token);
    },
  );

  itLong('adds a user once, when two servers are asked at once', async () => {
    const user = { name: 'ada', scope: 'operate', password: 'correct horse' };
    const answers = await Promise.all(
      [one, other].map((server) => server.json('POST', '/api/users', user)),
    );
    expect(new Set(answers.map(({ status: answer }) => answer))).toEqual(new Set([201, 409]));
    const listed = async (server: TestServer) => (await server.fetch('/api/users')).json();
    for (const server of [one, other])
      await until(
        'it knows the one',
        async () => ((await listed(server)) as unknown[]).length === 1,
      );
  });

  itLong('tells a follower that failed everything anew', async () => {
    const told: (string | undefined)[] = [];
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    other.app.get(ColdChanges).follow('account', (id) => {
      told.push(id);
      if (told.length === 1) throw new Error('It failed.');
    });
    const user = { name: 'ada', scope: 'operate', password: 'correct horse' };
    const { id } = await one.json<{ id: string }>('POST', '/api/users', user);
    await until('it is told again', () => told.length === 2);
    expect(told).toEqual([id, undefined]);
    expect(errors).toHaveBeenCalledWith(`account ${id}: It failed.`);
    errors.mockRestore();
  });

  itLong('renews a token once, when two servers are asked at once', async () => {
    const { id, token } = await made();
    await becomes(200, other, token);
    const rotations = await Promise.all(
      [one, other].map((server) => server.json<MadeToken>('POST', `/api/tokens/${id}/rotate`)),
    );
    const valid = async () =>
      (await Promise.all(rotations.map((renewed) => status(one, renewed.token)))).filter(
        (s) => s === 200,
      );
    await until('one secret is left', async () => (await valid()).length === 1);
    expect(rotations.map(({ status: answer }) => answer)).toEqual([200, 200]);
  });
});
