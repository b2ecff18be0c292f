import { until } from '@belay/testing';
import { TestServer } from '../testing/server.js';
import { SessionChecks } from './session-checks.js';
import { Takeovers } from './takeovers.js';

const server = new TestServer();
beforeAll(() => server.start());
afterAll(() => server.close());

const owned = async () => (await server.log.owned()).map(({ id }) => id);

it('works on the sessions of the server before it, until there is nothing to do', async () => {
  const [working, stopped] = [await server.session(), await server.session()];
  expect(await owned()).toEqual([working, stopped]);
  const last = await server.log.lastSeq(working);
  await server.json('POST', `/api/sessions/${stopped}/stop`);
  await server.reaches(stopped, 'stopped');

  await server.restart();
  expect(server.log.isEarlier(working, last)).toBe(true);
  await until('the stopped one is left', async () => !(await owned()).includes(stopped));
  expect(await owned()).toEqual([working]);
  await server.reaches(working, 'running');

  await server.restart();
  expect(await owned()).toEqual([working]);
  // Of one that nobody works on, all is of an earlier owner.
  expect(server.log.term(stopped)).toBeUndefined();
  expect(server.log.isEarlier(stopped, 1)).toBe(true);

  await server.json('POST', `/api/sessions/${stopped}/restart`);
  await server.reaches(stopped, 'running');
  expect(await owned()).toEqual([working, stopped]);
});

it('repeats no check of a session that works again', async () => {
  const id = await server.session({ check: 'true' });
  const runs = jest.spyOn(server.app.get(SessionChecks), 'run').mockResolvedValue();
  const summary = await server.log.summary(id);
  await server.app.get(Takeovers).take([{ ...summary, state: 'finished' }]);
  expect(summary.check?.state).toBe('waiting');
  expect(runs).not.toHaveBeenCalled();
});
