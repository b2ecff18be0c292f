import { itLong, until } from '@belay/testing';
import type { StoredMachine } from '../sandboxes/machines/machine.store.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { TestServer } from '../testing/server.js';

describe('removing a machine', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  /** A machine that runs the agent of one session, which ends with the machine. */
  async function running({ connected }: { connected: boolean }): Promise<string> {
    const session = await server.session();
    const machines = server.app.get(Machines);
    jest.spyOn(machines, 'known').mockReturnValue({ id: 'm', name: 'box' } as StoredMachine);
    jest.spyOn(machines, 'isConnected').mockReturnValue(connected);
    jest.spyOn(machines, 'sessionsOn').mockReturnValue([session]);
    jest.spyOn(machines, 'remove').mockImplementation(async () => {
      server.sandboxes.lose(session, 'The machine box was removed.');
    });
    return session;
  }
  const remove = () => server.fetch('/api/machines/box', { method: 'DELETE' });

  it('keeps the changes of its sessions, which then say how to get them', async () => {
    const session = await running({ connected: true });
    expect((await remove()).status).toBe(204);
    const summary = await server.log.summary(session);
    expect(summary).toMatchObject({
      state: 'failed',
      reason: `The machine box was removed. Its changes until then are kept: belay patch ${session}`,
    });
    await until('the agent is gone', () => !server.sandboxes.agents.has(session));
    const patch = await server.fetch(`/api/sessions/${session}/patch`);
    expect(await patch.text()).toBe(`patch of ${session} at the end`);
  });

  it('says that the changes of a machine that is away are only there', async () => {
    const session = await running({ connected: false });
    expect((await remove()).status).toBe(204);
    expect(await server.log.summary(session)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('are only on that machine'),
    });
  });

  itLong('attack: a machine whose agents do not answer is removed all the same', async () => {
    const session = await running({ connected: true });
    const agent = server.sandboxes.agent(session);
    const open = () => new Promise<never>(() => {});
    jest.spyOn(server.sandboxes, 'agent').mockReturnValue({ ...agent, open } as never);
    expect((await remove()).status).toBe(204);
    expect(await server.log.summary(session)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('are only on that machine'),
    });
  });
});
