import { z } from 'zod';
import { TestLogs } from '../../testing/logs.js';
import { MachineStore } from './machine.store.js';

describe('the machines that joined', () => {
  const logs = new TestLogs();
  let store: MachineStore;
  beforeEach(async () => {
    await logs.open();
    store = new MachineStore(await logs.documents());
  });
  afterEach(async () => {
    jest.useRealTimers();
    await logs.close();
  });
  const description = { host: 'h', os: 'o', arch: 'x64', kind: 'bare' } as const;
  const refused = { code: 'unauthorized' };

  it('join once by a token of which the hash alone is kept, also of two at once', async () => {
    const { token } = await store.invite('laptop');
    const outcomes = await Promise.allSettled([
      store.join(token, description),
      store.join(token, description),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await expect(store.join(token, description)).rejects.toMatchObject(refused);
    const [machine] = store.all();
    expect(machine).toMatchObject({ name: 'laptop', ...description });
    const document = (await logs.documents()).open('machines', z.unknown(), null);
    const stored = JSON.stringify(document.value);
    expect(stored).toContain(machine?.id);
    const [joined] = outcomes.filter((one) => one.status === 'fulfilled');
    for (const secret of [token, joined?.value.credential ?? ''])
      expect(stored).not.toContain(secret.slice(-20));
  });

  it('do not join by a wrong, an old or a replaced token', async () => {
    const first = await store.invite('laptop');
    const second = await store.invite('laptop');
    for (const token of ['', 'join-x', first.token])
      await expect(store.join(token, description)).rejects.toMatchObject(refused);
    jest.useFakeTimers({ now: Date.now() + 61 * 60_000, doNotFake: ['nextTick', 'setImmediate'] });
    await expect(store.join(second.token, description)).rejects.toMatchObject(refused);
  });

  it('are remembered to have files of deleted sessions, until these are gone or they are', async () => {
    const { token } = await store.invite('laptop');
    const { machine } = await store.join(token, description);
    await store.setLeftFiles(machine.id, ['a', 'b'], true);
    await store.setLeftFiles(machine.id, ['b', 'c'], true);
    await store.setLeftFiles('of-nobody', ['d'], true);
    await store.setLeftFiles(machine.id, ['a'], false);
    const again = new MachineStore(await logs.documents());
    expect(again.leftFiles(machine.id)).toEqual(['b', 'c']);
    expect(again.leftFiles('of-nobody')).toEqual([]);
    await store.remove(machine.id);
    expect(store.leftFiles(machine.id)).toEqual([]);
  });

  it('have one name each, which is free again once one is removed', async () => {
    const { token } = await store.invite('laptop');
    const { machine } = await store.join(token, description);
    await expect(store.invite('laptop')).rejects.toMatchObject({ code: 'conflict' });
    await store.remove(machine.id);
    await expect(store.remove(machine.id)).rejects.toMatchObject({ code: 'not_found' });
    await store.invite('laptop');
  });
});
