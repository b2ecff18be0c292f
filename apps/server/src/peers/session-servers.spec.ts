import { until } from '@belay/testing';
import type { EventLog } from '../logs/event-log.js';
import type { SessionsStore } from '../logs/sessions.store.js';
import type { LiveServers } from '../storage/live-servers.js';
import { serverId } from '../server-id.js';
import { liveServer } from '../testing/live-server.js';
import { SessionServers } from './session-servers.js';

describe('the server of a session', () => {
  const another = liveServer({ id: 'another' });
  const owned = new Set<string>();
  const owners: Record<string, string | null> = {
    own: serverId,
    handed: serverId,
    nobody: null,
    there: 'another',
    left: 'ended',
  };
  let isShared = true;
  let asked = 0;
  const log = { isOwned: (id: string) => owned.has(id) };
  const store = {
    ownerOf: (id: string) => {
      asked++;
      return Promise.resolve(owners[id]);
    },
  };
  const live = {
    get isShared() {
      return isShared;
    },
    others: () => Promise.resolve([another]),
  };
  const servers = new SessionServers(
    log as EventLog,
    store as SessionsStore,
    live as unknown as LiveServers,
  );
  beforeEach(() => {
    isShared = true;
    asked = 0;
    owned.clear();
    owned.add('own');
  });

  it('is another one only while that is alive', async () => {
    expect(await servers.other('there')).toEqual(another);
    for (const id of ['own', 'nobody', 'none']) expect(await servers.other(id)).toBeUndefined();
    await expect(servers.other('left')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is this one without any query if it works alone', async () => {
    isShared = false;
    expect(await servers.other('there')).toBeUndefined();
    expect(asked).toBe(0);
  });

  it('is this one for a request that was passed on, or soon, or never', async () => {
    await servers.assertOwn('own');
    expect(asked).toBe(0);
    for (const id of ['there', 'nobody', 'none', 'left'])
      await expect(servers.assertOwn(id)).rejects.toMatchObject({ code: 'unavailable' });
    const taken = servers.assertOwn('handed');
    await until('it looks again', () => asked > 5);
    owned.add('handed');
    await taken;
  });
});
