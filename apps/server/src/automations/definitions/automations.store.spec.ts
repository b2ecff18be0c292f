import { checkedDefinition, type AutomationDefinition } from '@belay/protocol';
import { ownerCaller } from '../../access/caller.js';
import { onEveryDatabase } from '../../testing/databases.js';
import { TestLogs } from '../../testing/logs.js';
import { Clock } from '../clock.js';
import { AutomationsStore } from './automations.store.js';

function definitionOf(name: string, more: object = {}): AutomationDefinition {
  const run = { task: 'x', budgets: { dollars: 1 } };
  const { definition } = checkedDefinition({ name, on: { hand: true }, run, ...more });
  if (!definition) throw new Error('The definition has faults.');
  return definition;
}

const by = ownerCaller;
const other = { ...ownerCaller, id: 'user:ada' };
const file = {
  host: 'github.com',
  repository: 'acme/api',
  path: '.belay/automations/a.yaml',
  commit: 'a',
};

onEveryDatabase('automations', (databases) => {
  let logs: TestLogs;
  let store: AutomationsStore;
  let changes: number;
  beforeEach(async () => {
    logs = await new TestLogs(databases).open();
    store = new AutomationsStore(logs.database, new Clock());
    changes = 0;
    store.onChange(() => (changes += 1));
  });
  afterEach(() => logs.close());

  it('are saved, listed by name and found by name or id', async () => {
    const b = await store.save(definitionOf('b'), { by });
    const a = await store.save(definitionOf('a'), { by: other });
    expect(b).toMatchObject({ name: 'b', version: 1, owner: 'owner', state: 'on', file: null });
    expect(await store.list()).toEqual([a, b]);
    expect(await store.list([b.id, 'unknown'])).toEqual([b]);
    expect(await store.find('a')).toEqual(a);
    expect(await store.require(b.id)).toEqual(b);
    expect(await store.find('c')).toBeUndefined();
    await expect(store.require('c')).rejects.toThrow('There is no automation c.');
    expect(changes).toBe(2);
  });

  it('are parsed once, as long as they are not changed', async () => {
    await store.save(definitionOf('a'), { by });
    const definition = async () => (await store.require('a')).definition;
    const first = await definition();
    expect(await definition()).toBe(first);
    expect((await store.list())[0]?.definition).toBe(first);
    await store.save(definitionOf('a', { dry: true }), { by });
    expect(await definition()).toEqual({ ...first, dry: true });
  });

  it('keep their owner and all versions, and get no version for the same definition', async () => {
    const first = await store.save(definitionOf('a'), { by });
    await store.save(definitionOf('a'), { by: other });
    const second = await store.save(definitionOf('a', { dry: true }), { by: other });
    expect(second).toMatchObject({ id: first.id, version: 2, owner: 'owner' });
    expect(await store.versions(first.id)).toMatchObject([
      { version: 2, by: 'user:ada', definition: { dry: true } },
      { version: 1, by: 'owner', definition: { dry: false } },
    ]);
    const version = { automation: first.id, version: 1 };
    expect(await store.definitionsOf([version, { automation: first.id, version: 3 }])).toEqual([
      { ...version, definition: definitionOf('a') },
    ]);
  });

  it('have one more version for each of several changes at once', async () => {
    const saved = await Promise.all(
      [1, 2, 3, 4].map((dollars) =>
        store.save(definitionOf('a', { run: { task: 'x', budgets: { dollars } } }), { by }),
      ),
    );
    expect(new Set(saved.map(({ id }) => id)).size).toBe(1);
    const versions = await store.versions(saved[0]?.id ?? '');
    expect(versions.map(({ version }) => version)).toEqual([4, 3, 2, 1]);
  });

  it('leave their versions when they are removed, and are others when they are added again', async () => {
    const { id } = await store.save(definitionOf('a'), { by });
    await store.remove('a');
    expect(await store.list()).toEqual([]);
    expect(await store.versions(id)).toHaveLength(1);
    await expect(store.remove('a')).rejects.toThrow('There is no automation a.');
    const again = await store.save(definitionOf('a'), { by });
    expect(again).toMatchObject({ version: 1 });
    expect(again.id).not.toBe(id);
  });

  it('are paused with a reason; a new version switches what is broken on, and starts nothing that is paused', async () => {
    const { id } = await store.save(definitionOf('a'), { by });
    await store.setState(id, 'paused', 'Paused by Ada.');
    expect(await store.save(definitionOf('a', { dry: true }), { by })).toMatchObject({
      state: 'paused',
      why: 'Paused by Ada.',
    });
    await store.setState(id, 'broken', 'Five failures.');
    expect(await store.save(definitionOf('a'), { by })).toMatchObject({ state: 'on', why: null });
    await expect(store.setState('gone', 'on', null)).rejects.toThrow('was removed');
  });

  it('keep the times of their schedule until it changes', async () => {
    const on = { schedule: '0 0 * * *' };
    const { id } = await store.save(definitionOf('a', { on }), { by });
    const times = { nextAt: '2026-12-01T00:00:00.000Z', lastAt: '2026-11-30T00:00:00.000Z' };
    await store.setSchedule(id, times);
    expect(await store.save(definitionOf('a', { on, dry: true }), { by })).toMatchObject(times);
    const later = { schedule: '1 0 * * *' };
    expect(await store.save(definitionOf('a', { on: later }), { by })).toMatchObject({
      nextAt: null,
      lastAt: times.lastAt,
    });
  });

  it('are known by the newest secret of their URL, of which only the hash is kept', async () => {
    const { id } = await store.save(definitionOf('a'), { by });
    await store.save(definitionOf('b'), { by });
    expect(await store.bySecret(id, '')).toBeUndefined();
    const first = await store.setSecret(id);
    expect(first).toMatch(/^bhk_[\w-]{43}$/);
    expect(await store.bySecret(id, first)).toMatchObject({ name: 'a' });
    const second = await store.setSecret(id);
    expect(await store.bySecret(id, first)).toBeUndefined();
    expect(await store.bySecret(id, second)).toMatchObject({ name: 'a' });
    expect(await store.bySecret((await store.require('b')).id, second)).toBeUndefined();
    expect(await store.bySecret('gone', second)).toBeUndefined();
    const rows = await logs.database.kysely.selectFrom('automation').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(second);
  });

  it('of a repository replace only their own', async () => {
    await store.save(definitionOf('a'), { by });
    await expect(store.save(definitionOf('a', { dry: true }), { by, file })).rejects.toThrow(
      'There is an automation a already, which an admin wrote.',
    );
    const own = await store.save(definitionOf('b'), { by, file });
    expect(own.file).toEqual(file);
    const newer = { ...file, commit: 'b' };
    expect(await store.save(definitionOf('b'), { by, file: newer })).toMatchObject({
      version: 1,
      file: newer,
    });
    const elsewhere = { ...file, repository: 'acme/web' };
    await expect(store.save(definitionOf('b'), { by, file: elsewhere })).rejects.toThrow(
      'from github.com/acme/api',
    );
  });

  it('are at most 500, and can be changed then', async () => {
    const now = new Date().toISOString();
    const definition = JSON.stringify(definitionOf('a'));
    const rows = Array.from({ length: 499 }, (_, at) => ({
      id: `id-${at}`,
      name: `n-${at}`,
      version: 1,
      definition,
      owner: 'owner',
      state: 'on' as const,
      why: null,
      file: null,
      secret: null,
      next_at: null,
      last_at: null,
      created: now,
      updated: now,
    }));
    for (let at = 0; at < rows.length; at += 50)
      await logs.database.kysely
        .insertInto('automation')
        .values(rows.slice(at, at + 50))
        .execute();
    await store.save(definitionOf('a'), { by });
    await expect(store.save(definitionOf('b'), { by })).rejects.toThrow(
      'There are 500 automations.',
    );
    expect(await store.save(definitionOf('a', { dry: true }), { by })).toMatchObject({
      version: 2,
    });
  });
});
