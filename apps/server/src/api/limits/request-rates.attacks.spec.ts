import { newEvent, sessionSettings } from '@belay/protocol';
import { startEvent } from '../../sessions/start-event.js';
import { TestServer } from '../../testing/server.js';
import type * as stopped from './testing/stopped-buckets.js';
import type * as buckets from './token-bucket.js';

// So that nothing is added while the requests are counted.
jest.mock('./token-bucket.js', () =>
  jest
    .requireActual<typeof stopped>('./testing/stopped-buckets.js')
    .stoppedBuckets(jest.requireActual<typeof buckets>('./token-bucket.js')),
);

const server = new TestServer();
afterAll(() => server.close());

const items = 450;
/** A list of so many counts as so many requests. */
const countsAs = 5;
/** How many requests a viewer may make at once, which is a quarter of the others’. */
const burst = 20;

beforeAll(async () => {
  await server.start();
  const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:x' });
  const events = [startEvent(settings, false)];
  for (let at = 0; at < items; at += 1) await server.log.create(`s${at}`, settings, { events });
  const more = newEvent('agent', 'renewed', { args: {}, message: 'Another agent goes on.' });
  await server.log.append(
    's0',
    Array.from({ length: items - 1 }, () => more),
  );
});

it.each(['/api/sessions', '/api/sessions/s0/events'])(
  'attacks: one client cannot fill the server with %s, nor keep it from others',
  async (path) => {
    await server.restart({ BELAY_REQUESTS_PER_SECOND: `${(4 * burst) / 10}` });
    const list = (token: string, query = '') => server.fetch(`${path}${query}`, { token });
    const answers = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const answer = await list(server.viewerToken);
        const retry = answer.headers.get('retry-after');
        return { status: answer.status, retry, body: await answer.json() };
      }),
    );
    const answered = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect(answered.length * countsAs).toBeLessThanOrEqual(burst);
    expect(answered.length + refused.length).toBe(60);
    for (const { retry, body } of refused) {
      expect(Number(retry)).toBeGreaterThan(0);
      expect(body).toMatchObject({ code: 'limit_reached' });
    }
    // The control: others are served, and a short list is one request.
    expect((await server.fetch('/health', { token: '' })).status).toBe(200);
    const whole = (await (await list(server.token)).json()) as unknown[];
    expect(whole.length).toBeGreaterThanOrEqual(items);
    for (let at = 0; at < 4 * burst - countsAs; at += 1)
      expect((await list(server.token, '?limit=100')).status).toBe(200);
    expect((await list(server.token, '?limit=1')).status).toBe(429);
  },
);

it('a caller who asks too much waits, and no other', async () => {
  await server.restart({ BELAY_REQUESTS_PER_SECOND: '2' });
  const answers: Response[] = [];
  for (let number = 0; number < 30; number++) answers.push(await server.fetch('/api/me'));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(10);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect(await refused[0]?.json()).toMatchObject({ code: 'limit_reached' });
  expect((await server.fetch('/api/me', { token: server.viewerToken })).status).toBe(200);
  expect((await server.fetch('/health', { token: '' })).status).toBe(200);
});
