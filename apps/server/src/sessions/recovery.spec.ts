import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { AppError, ignoreError } from '@belay/protocol';
import { until } from '@belay/testing';
import { Reconciler } from '../sandboxes/lifecycle/reconciler.js';
import { TestServer } from '../testing/server.js';
import { Recovery } from './recovery.js';
import { SandboxSlots } from './sandbox-slots.js';
import { SessionPlaces } from './session-places.js';
import { pauseEvent, startEvent } from './start-event.js';
import { Takeovers } from './takeovers.js';

const server = new TestServer();
beforeAll(() => server.start());
afterEach(async () => {
  jest.restoreAllMocks();
  await server.forgetSessions();
});
afterAll(() => server.close());

const recovery = () => server.app.get(Recovery);
/** A session of an earlier server, whose sandbox is not known here yet. */
async function taken(works?: (session: string) => Promise<unknown>) {
  const id = await server.session();
  await works?.(id);
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
    // Their next looks come after this test, when they were deleted.
    for (const { adopted } of [one, two]) adopted().catch(ignoreError('they were deleted'));
    const adopted = other.adopted();
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

it.each([
  ['is there', 0],
  ['is gone', 1],
])(
  'leaves a message to an ended session until it is known that its sandbox %s',
  async (what, more) => {
    const { id, agent } = await taken(async (session) => {
      await server.sandboxes.finishes(server.log, session);
      await server.reaches(session, 'finished');
    });
    const goesOn = Promise.withResolvers<void>();
    jest.spyOn(server.app.get(Reconciler), 'adopt').mockImplementation(async () => {
      await goesOn.promise;
      if (what === 'is there') server.sandboxes.agents.set(id, agent);
    });
    const before = server.sandboxes.starts.length;
    const adopted = server.app.get(Takeovers).take([await server.log.summary(id)]);
    const text = 'And now the docs';
    expect(await server.json('POST', `/api/sessions/${id}/messages`, { text })).toMatchObject({
      status: 204,
    });
    goesOn.resolve();
    await adopted;
    await server.reaches(id, 'running');
    expect(server.sandboxes.starts).toHaveLength(before + more);
    expect(server.app.get(SandboxSlots).has(id)).toBe(true);
  },
);

it('fails a paused session without a sandbox, unless its agent has done nothing since its start', async () => {
  const works = async (session: string) => {
    await server.sandboxes.says(server.log, session, {
      action: 'say',
      args: { text: 'Hm.', calls: [] },
    });
    await server.json('POST', `/api/sessions/${session}/pause`);
  };
  const [worked, restarted] = [await taken(works), await taken(works)];
  const again = startEvent(await server.log.settings(restarted.id), true);
  await server.log.append(restarted.id, [again, pauseEvent()]);
  for (const { adopted } of [worked, restarted]) await adopted();
  expect((await server.log.summary(worked.id)).state).toBe('failed');
  await until('it has started', () => server.sandboxes.agents.has(restarted.id));
  expect((await server.log.summary(restarted.id)).state).toBe('paused');
});

describe('a sandbox that has died', () => {
  const stops = async (id: string) => {
    await server.json('POST', `/api/sessions/${id}/stop`);
    await until('it has ended', () => !server.app.get(SandboxSlots).has(id));
  };

  it('fails its session, whose place is free', async () => {
    const id = await server.session();
    server.sandboxes.lose(id, 'It was killed');
    await server.reaches(id, 'failed');
    await until('its place is free', () => !server.app.get(SandboxSlots).has(id));
  });

  it.each(['has started again', 'is starting again', 'waits for its next start'])(
    'does not fail its session, which %s meanwhile',
    async (how) => {
      const id = await server.session();
      await stops(id);
      const goesOn = Promise.withResolvers<void>();
      const places = server.app.get(SessionPlaces);
      const [next, settle] = [places.next.bind(places), places.settle.bind(places)];
      let isHeld = false;
      const held = async (whose: string): Promise<void> => {
        if (whose !== how) return;
        isHeld = true;
        await goesOn.promise;
      };
      jest.spyOn(places, 'next').mockImplementation(async (session) => {
        await held('waits for its next start');
        return next(session);
      });
      jest.spyOn(places, 'settle').mockImplementation(async (session, place) => {
        await held('is starting again');
        return settle(session, place);
      });
      await server.json('POST', `/api/sessions/${id}/restart`);
      if (how === 'has started again') await server.reaches(id, 'running');
      else await until(how, () => isHeld);
      server.sandboxes.lose(id, 'It was killed', 1);
      await setImmediate();
      goesOn.resolve();
      await server.reaches(id, 'running');
      // The report is handled by then.
      await server.app.get(SandboxSlots).inOrder(id, async () => {});
      await setImmediate();
      await server.log.drained();
      expect(server.sandboxes.agents.get(id)?.startPayload.epoch).toBe(2);
      const events = await server.log.read(id, { after: 0 });
      expect(events.filter(({ message }) => message.includes('It was killed'))).toEqual([]);
      expect(server.app.get(SandboxSlots).has(id)).toBe(true);
    },
  );
});
