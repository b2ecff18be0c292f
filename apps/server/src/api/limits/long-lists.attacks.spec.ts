import { sessionSettings } from '@belay/protocol';
import { startEvent } from '../../sessions/start-event.js';
import { TestServer } from '../../testing/server.js';
import type * as buckets from './token-bucket.js';

// Its clock stands still, so that nothing is added while the requests are counted.
jest.mock('./token-bucket.js', () => {
  const { TokenBucket } = jest.requireActual<typeof buckets>('./token-bucket.js');
  class StoppedBucket extends TokenBucket {
    constructor(rate: buckets.RequestRate) {
      super(rate, () => 0);
    }
  }
  return { TokenBucket: StoppedBucket };
});

const server = new TestServer();
afterAll(() => server.close());

const sessions = 450;
/** A list of so many counts as so many requests. */
const countsAs = 5;
/** How many requests a viewer may make at once, which is a quarter of the others’. */
const burst = 20;

it('attacks: one client cannot fill the server with long lists, nor keep it from others', async () => {
  await server.start({ BELAY_REQUESTS_PER_SECOND: `${(4 * burst) / 10}` });
  const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:x' });
  const events = [startEvent(settings, false)];
  for (let at = 0; at < sessions; at += 1) await server.log.create(`s${at}`, settings, { events });
  const list = (token: string, query = '') => server.fetch(`/api/sessions${query}`, { token });
  const flood = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const answer = await list(server.viewerToken);
      return {
        status: answer.status,
        retry: answer.headers.get('retry-after'),
        body: await answer.json(),
      };
    }),
  );
  const answered = flood.filter(({ status }) => status === 200);
  const refused = flood.filter(({ status }) => status === 429);
  expect(answered.length).toBeGreaterThan(0);
  expect(answered.length * countsAs).toBeLessThanOrEqual(burst);
  expect(answered.length + refused.length).toBe(60);
  for (const { body } of answered) expect(body).toHaveLength(sessions);
  for (const { retry, body } of refused) {
    expect(Number(retry)).toBeGreaterThan(0);
    expect(body).toMatchObject({ code: 'limit_reached' });
  }
  // The control: others are served, and a short list is one request.
  expect((await server.fetch('/health', { token: '' })).status).toBe(200);
  expect(await (await list(server.token)).json()).toHaveLength(sessions);
  expect((await list(server.token, '?limit=100')).status).toBe(200);
});
