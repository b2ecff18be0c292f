import { newToken } from '@belay/protocol';
import { until } from '@belay/testing';
import { onEveryDatabase } from '../testing/databases.js';
import { TestLogs } from '../testing/logs.js';
import { may, ownerCaller, sees, type Caller } from './caller.js';
import { ColdChanges } from '../storage/cold-changes.js';
import { CallerEnds } from './caller-ends.js';
import { SessionOwners } from './session-owners.js';
import { TokensStore } from './tokens.store.js';
import { userIdOf, UsersStore } from './users.store.js';

onEveryDatabase('stored tokens', (databases) => {
  let logs: TestLogs;
  let ends: CallerEnds;
  let owners: SessionOwners;
  let tokens: TokensStore;
  let users: UsersStore;
  /** As after a start of the server. */
  const open = async () => {
    ends = new CallerEnds();
    const changes = new ColdChanges(logs.config, logs.database);
    owners = new SessionOwners(logs.database, changes);
    users = new UsersStore(logs.database, ends, changes);
    tokens = new TokensStore(logs.database, owners, ends, users, changes);
    await users.onModuleInit();
    await owners.onModuleInit();
    await tokens.onModuleInit();
  };
  const make = (more: object = {}, maker: Pick<Caller, 'id'> = ownerCaller) =>
    tokens.create(newToken.parse({ label: 'CI', scope: 'operate', ...more }), maker);
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    await open();
  });
  afterEach(() => logs.close());

  it('keep the sandbox that was chosen for their sessions', async () => {
    const sandbox = { machine: 'laptop', image: null, profile: 'root' };
    const { token } = await make({ sandbox });
    const { token: usual } = await make();
    await open();
    expect(tokens.callerOf(token)).toMatchObject({ sandbox });
    expect(tokens.list().map((one) => one.sandbox)).toContainEqual(sandbox);
    expect(tokens.callerOf(usual)).not.toHaveProperty('sandbox');
  });

  it('are of this server alone when they are not stored', async () => {
    const wanted = newToken.parse({ label: 'Run', scope: 'operate' });
    const { token } = await tokens.create(wanted, ownerCaller, { stored: false });
    expect(tokens.callerOf(token)).toMatchObject({ isLocal: true });
    const { token: usual } = await make();
    expect(tokens.callerOf(usual)).not.toHaveProperty('isLocal');
    await open();
    expect(tokens.callerOf(token)).toBeUndefined();
  });

  it('are known after a restart by a hash alone, until they are revoked', async () => {
    const { token, id } = await make();
    expect(token).toMatch(/^blt_[\w-]{43}$/);
    await open();
    const rows = await logs.database.kysely.selectFrom('access_token').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(token.slice(4));
    expect(tokens.callerOf(token)).toMatchObject({ id: `token:${id}`, scope: 'operate' });
    expect(tokens.callerOf(`${token}x`)).toBeUndefined();
    expect(tokens.list()[0]?.lastUsed).not.toBeNull();
    await tokens.revoke(id);
    expect(tokens.callerOf(token)).toBeUndefined();
    await open();
    expect(tokens.list()).toEqual([]);
    await expect(tokens.revoke(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('end with the token that made them, and with no other', async () => {
    const maker = await make({ scope: 'admin' });
    const child = await make({ scope: 'admin' }, { id: `token:${maker.id}` });
    const other = await make();
    const grandchild = await make({}, { id: `token:${child.id}` });
    await tokens.rotate(maker.id, ownerCaller);
    expect(tokens.callerOf(grandchild.token)).toBeDefined();
    await open();
    await tokens.revoke(maker.id);
    for (const { token } of [child, grandchild]) expect(tokens.callerOf(token)).toBeUndefined();
    expect(tokens.callerOf(other.token)).toBeDefined();
    await open();
    expect(tokens.list().map(({ id }) => id)).toEqual([other.id]);
  });

  const user = { name: 'ada', subject: 'issuer 1' };
  const lost = { code: 'unauthorized' };

  it('end when the user who made them may not make them any more, and links when it may only look', async () => {
    const { id } = (await users.provided({ ...user, scope: 'admin' }))!;
    const later = new Date(Date.now() + 60_000).toISOString();
    const link = (maker: string) =>
      tokens.createLink({ label: 'x', expires: later }, { session: 'a', maker });
    const [made, shown, other] = [await make({}, { id }), await link(id), await make()];
    const grandchild = await make(
      {},
      { id: `token:${(await make({ scope: 'admin' }, { id })).id}` },
    );
    const ended: string[] = [];
    for (const { id: of, token } of [made, shown, other, grandchild])
      ends.on(tokens.callerOf(token)!, () => ended.push(of));
    const known = (all: { token: string }[]) => all.filter(({ token }) => tokens.callerOf(token));
    await users.provided({ ...user, scope: 'operate' });
    expect(known([made, shown, other, grandchild])).toEqual([shown, other]);
    expect(ended.toSorted()).toEqual([made.id, grandchild.id].toSorted());
    await expect(make({}, { id })).rejects.toMatchObject(lost);
    expect(tokens.callerOf((await link(id)).token)).toBeDefined();
    await users.provided({ ...user, scope: 'view' });
    expect(known([shown, other])).toEqual([other]);
    await expect(link(id)).rejects.toMatchObject(lost);
    // They do not come back with the rights.
    await users.provided({ ...user, scope: 'admin' });
    expect(known([made, shown, grandchild])).toEqual([]);
    await until('they are deleted', async () => {
      await open();
      return tokens.list().length === 1;
    });
  });

  it('end with the rights of their maker even if that cannot be stored', async () => {
    const { id } = (await users.provided({ ...user, scope: 'admin' }))!;
    const made = await make({}, { id });
    const elsewhere = (from: string, to: string) =>
      logs.database.kysely.schema.alterTable(from).renameTo(to).execute();
    await elsewhere('access_token', 'elsewhere');
    await users.provided({ ...user, scope: undefined });
    await elsewhere('elsewhere', 'access_token');
    expect(tokens.callerOf(made.token)).toBeUndefined();
    await open();
    expect(tokens.callerOf(made.token)).toBeUndefined();
  });

  it('are not made by one whose rights end while they are stored', async () => {
    const { id } = (await users.provided({ ...user, scope: 'admin' }))!;
    const maker = await make({ scope: 'admin' });
    const making = Promise.allSettled([
      make({}, { id }),
      make({}, { id: `token:${maker.id}` }),
      make({ label: 'kept' }),
    ]);
    await Promise.all([users.remove(userIdOf({ id })), tokens.revoke(maker.id)]);
    expect(await making).toMatchObject([
      { status: 'rejected', reason: lost },
      { status: 'rejected', reason: lost },
      { status: 'fulfilled' },
    ]);
    expect(tokens.list()).toMatchObject([{ label: 'kept' }]);
    await open();
    expect(tokens.list()).toMatchObject([{ label: 'kept' }]);
  });

  it('belong to the one who rotates them, and are not rotated by what they made', async () => {
    const { id } = (await users.provided({ ...user, scope: 'admin' }))!;
    const [taken, own] = [await make(), await make({ scope: 'admin' })];
    const child = await make({ scope: 'admin' }, { id: `token:${own.id}` });
    await expect(tokens.rotate(own.id, { id: `token:${child.id}` })).rejects.toMatchObject({
      code: 'conflict',
    });
    const rotated = await tokens.rotate(taken.id, { id });
    const itself = await tokens.rotate(own.id, { id: `token:${own.id}` });
    expect(tokens.callerOf(rotated.token)).toBeDefined();
    await users.provided({ ...user, scope: 'operate' });
    expect(tokens.callerOf(rotated.token)).toBeUndefined();
    for (const { token } of [itself, child]) expect(tokens.callerOf(token)).toBeDefined();
  });

  it('end with the token that made them even if that cannot be stored', async () => {
    const maker = await make({ scope: 'admin' });
    const child = await make({}, { id: `token:${maker.id}` });
    await logs.database.kysely.schema.alterTable('access_token').renameTo('elsewhere').execute();
    await expect(tokens.revoke(maker.id)).rejects.toThrow();
    await logs.database.kysely.schema.alterTable('elsewhere').renameTo('access_token').execute();
    for (const { token } of [maker, child]) expect(tokens.callerOf(token)).toBeUndefined();
  });

  it('keep the links that they made when their application renews them, until they are rotated', async () => {
    const client = { client: 'app', refreshMs: 60_000 };
    const wanted = newToken.parse({ label: 'app', scope: 'operate' });
    const expires = new Date(Date.now() + 60_000).toISOString();
    const { id, refresh } = await tokens.createRefreshable(wanted, { ...client, maker: 'owner' });
    const by = { session: 'a', maker: `token:${id}` };
    const { token } = await tokens.createLink({ label: 'x', expires }, by);
    expect(await tokens.refresh(refresh, { ...client, expires })).toBeDefined();
    expect(tokens.callerOf(token)).toBeDefined();
    await tokens.rotate(id, ownerCaller);
    expect(tokens.callerOf(token)).toBeUndefined();
  });

  it('end what is open when they are revoked, rotated or expire', async () => {
    const ended: string[] = [];
    const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
    const follow = (name: string, token: string) =>
      ends.on(tokens.callerOf(token)!, () => ended.push(name));
    const [a, b] = [await make(), await make()];
    // However long a busy machine takes to make it, it has not expired before it is followed.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const short = await make({ expires: soon(100) });
    follow('revoked', a.token);
    follow('rotated', b.token);
    follow('expired', short.token);
    clock.mockRestore();
    follow('left', a.token)();
    await tokens.revoke(a.id);
    const { token } = await tokens.rotate(b.id, ownerCaller);
    expect(ended.filter((name) => name !== 'expired')).toEqual(['revoked', 'rotated']);
    expect(tokens.callerOf(b.token)).toBeUndefined();
    expect(tokens.callerOf(token)).toBeDefined();
    await until('it has expired', () => ended.includes('expired'));
    expect(tokens.callerOf(short.token)).toBeUndefined();
  });

  it('stay revoked when they are rotated at the same time, and rotated twice have one secret', async () => {
    const { id } = await make();
    const rotating = tokens.rotate(id, ownerCaller);
    await tokens.revoke(id);
    await expect(rotating).rejects.toMatchObject({ code: 'not_found' });
    expect(tokens.list()).toEqual([]);
    const other = await make();
    const made = await Promise.all([
      tokens.rotate(other.id, ownerCaller),
      tokens.rotate(other.id, ownerCaller),
    ]);
    const known = () => made.filter(({ token }) => tokens.callerOf(token));
    expect(known()).toEqual([made[1]]);
    await open();
    expect(known()).toEqual([made[1]]);
  });

  it('see all sessions, those that match, or those that they began', async () => {
    const seen = async (sessions: unknown) => {
      const caller = tokens.callerOf((await make({ sessions })).token)!;
      await owners.record(`mine-${String(sessions)}`, caller);
      return ['a1', 'a2', 'b1', `mine-${String(sessions)}`].filter((id) => sees(caller, id));
    };
    expect(await seen('all')).toHaveLength(4);
    expect(await seen(['a*'])).toEqual(['a1', 'a2']);
    expect(await seen(['a1', 'b1'])).toEqual(['a1', 'b1']);
    const { token } = await make({ sessions: 'own' });
    await owners.record('c', tokens.callerOf(token)!);
    await open();
    const again = tokens.callerOf(token)!;
    expect(['a1', 'c'].filter((id) => sees(again, id))).toEqual(['c']);
    expect(may(again, 'operate', 'c')).toBe(true);
    expect(may(again, 'admin')).toBe(false);
  });

  it('are refused with a bad expiry, label or limit', () => {
    const faulty = (more: object) =>
      newToken.safeParse({ label: 'CI', scope: 'view', ...more }).success;
    expect(faulty({})).toBe(true);
    for (const more of [
      { expires: '2001-01-01T00:00:00Z' },
      { label: ' ' },
      { label: 'a\u001b[2J' },
      { sessions: [] },
      { sessions: ['../x'] },
      { scope: 'admin', sessions: ['a'] },
      { scope: 'root' },
    ])
      expect({ more, ok: faulty(more) }).toEqual({ more, ok: false });
  });
});
