import { Logger } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { until } from '@belay/testing';
import { Reconciler } from '../sandboxes/lifecycle/reconciler.js';
import { TestServer } from '../testing/server.js';
import { Recovery } from './recovery.js';
import { SandboxSlots } from './sandbox-slots.js';

const server = new TestServer();
beforeAll(() => server.start());
afterEach(async () => {
  jest.restoreAllMocks();
  await server.forgetSessions();
});
afterAll(() => server.close());

const recovery = () => server.app.get(Recovery);
/** A session of an earlier server, whose sandbox is not known here yet. */
async function taken() {
  const id = await server.session();
  const agent = server.sandboxes.agents.get(id)!;
  server.sandboxes.agents.delete(id);
  server.app.get(SandboxSlots).free(id);
  return { id, agent, adopted: async () => recovery().adopt(await server.log.summary(id)) };
}

describe('looking for sandboxes', () => {
  const refused = new AppError('unavailable', 'The bucket b does not admit this server.', {
    isRefused: true,
  });
  const away = new AppError('unavailable', 'Docker does not respond.');

  it('is seldom repeated where the storage refuses this server, with one warning', async () => {
    const [one, two, other] = [await taken(), await taken(), await taken()];
    let isAway = true;
    const adopt = jest.spyOn(server.app.get(Reconciler), 'adopt');
    adopt.mockImplementation(async (session) => {
      if (session !== other.id) throw refused;
      if (isAway) throw away;
      server.sandboxes.agents.set(session, other.agent);
    });
    const warns = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const looks = (session: string) =>
      adopt.mock.calls.filter(([looked]) => looked === session).length;
    const [, , adopted] = [one, two, other].map((session) => session.adopted());
    await until('it is looked for again', () => looks(other.id) > 2);
    expect([looks(one.id), looks(two.id)]).toEqual([1, 1]);
    expect(warns.mock.calls.flat()).toEqual([
      expect.stringMatching(/^The bucket b does not admit this server\. .*every 30 s/),
      away.message,
    ]);
    expect(await server.log.summary(one.id)).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('cannot be reached'),
    });
    isAway = false;
    await adopted;
    expect(await server.log.summary(other.id)).toMatchObject({ state: 'running' });
  });
});
