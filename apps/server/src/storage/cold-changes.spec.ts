import { Config } from '../config.js';
import type { Database } from './database.js';
import { ColdChanges } from './cold-changes.js';
import { PostgresListener, type ListenerCalls } from './postgres-listener.js';

it('reads once what was changed several times before it is read', async () => {
  const open = jest.spyOn(PostgresListener, 'open');
  const events = Promise.withResolvers<ListenerCalls>();
  open.mockImplementation(async (_, given) => {
    events.resolve(given);
    return { close: () => Promise.resolve() } as unknown as PostgresListener;
  });
  const config = new Config({ DATABASE_URL: 'postgres://nowhere/belay' });
  const database = { migrated: () => Promise.resolve() } as unknown as Database;
  const changes = new ColdChanges(config, database);
  const told: (string | undefined)[] = [];
  const [begun, reading, last] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  changes.follow('document', async (name) => {
    told.push(name);
    begun.resolve();
    if (name === 'first') await reading.promise;
    if (name === 'last') last.resolve();
  });
  expect(changes.hasRead).toBe(false);
  await changes.onModuleInit();
  expect(changes.hasRead).toBe(true);
  expect(told.splice(0)).toEqual([undefined]);
  const { received } = await events.promise;
  received('document:first');
  await begun.promise;
  for (const name of ['second', 'first', 'second', 'first', 'last']) received(`document:${name}`);
  reading.resolve();
  await last.promise;
  expect(told).toEqual(['first', 'second', 'first', 'last']);
  await changes.beforeApplicationShutdown();
  open.mockRestore();
});
