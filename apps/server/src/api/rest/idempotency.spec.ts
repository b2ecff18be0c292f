import type { MadeToken, SessionSummary } from '@belay/protocol';
import { NewSettings } from '../../sessions/new-settings.js';
import { SessionService } from '../../sessions/session.service.js';
import { TestServer } from '../../testing/server.js';

describe('a request with an Idempotency-Key', () => {
  const server = new TestServer();
  beforeEach(() => server.start());
  afterEach(() => server.close());

  const post = (path: string, key: string, body: object, token = server.token) =>
    server.fetch(path, {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    });
  const start = (key: string, token?: string) =>
    post('/api/sessions', key, { task: 'Fix', model: 'scripted:x' }, token);
  const idOf = async (response: Response) => ((await response.json()) as SessionSummary).id;
  const sessions = async () => (await server.log.summaries()).map(({ id }) => id);

  /** Ends the server while a request waits for this, which may have been done by then. */
  async function endDuring(
    what: jest.SpyInstance,
    request: () => Promise<Response>,
    done: (...given: never[]) => Promise<unknown> = () => Promise.resolve(),
  ) {
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    what.mockImplementation(async (...given: never[]) => {
      await done(...given);
      resolve();
      return new Promise(() => {});
    });
    const cut = request().catch((error: unknown) => error);
    await reached;
    await server.restart();
    expect(await cut).toMatchObject({ message: 'fetch failed' });
  }

  /** Ends the server after it has stored a session, and before its client gets the answer. */
  async function endAfterCreating(key: string): Promise<string> {
    const before = await sessions();
    const create = server.log.create.bind(server.log);
    await endDuring(jest.spyOn(server.log, 'create'), () => start(key), create);
    const [id = '', ...more] = (await sessions()).filter((one) => !before.includes(one));
    expect(more).toEqual([]);
    return id;
  }

  it('has the same response after the end of the server', async () => {
    const first = await start('once');
    const made = await post('/api/tokens', 'token', { label: 'CI', scope: 'view' });
    await server.restart();
    const again = await start('once');
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(await again.json()).toEqual(await first.json());
    expect(await sessions()).toHaveLength(1);
    const token = await post('/api/tokens', 'token', { label: 'CI', scope: 'view' });
    expect(await token.json()).toEqual(await made.json());
  });

  it('makes one session, before or after which the server ended', async () => {
    const settings = jest.spyOn(server.app.get(NewSettings), 'of');
    await endDuring(settings, () => start('before'));
    expect(await sessions()).toEqual([]);
    const before = await idOf(await start('before'));
    expect(await sessions()).toEqual([before]);

    const after = await endAfterCreating('after');
    // What is asked now is what there is; a model is no longer needed.
    const refused = jest.spyOn(server.app.get(NewSettings), 'of').mockRejectedValue(new Error());
    expect(await idOf(await start('after'))).toBe(after);
    const replayed = await start('after');
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect(await idOf(replayed)).toBe(after);
    expect(refused).not.toHaveBeenCalled();
    expect(await sessions()).toHaveLength(2);
    await server.reaches(after, 'running');
  });

  it('is not repeated if it cannot be known what was done', async () => {
    const session = await server.session();
    const message = () => post(`/api/sessions/${session}/messages`, 'message', { text: 'Go on' });
    await endDuring(jest.spyOn(server.app.get(SessionService), 'message'), message);
    const again = await message();
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('was cut off when the server ended'),
    });
  });

  it('attacks: gives nothing of it to another caller, before and after a restart', async () => {
    const other = await server.json<MadeToken>('POST', '/api/tokens', {
      label: 'other',
      scope: 'operate',
      sessions: 'own',
    });
    const mine = await idOf(await start('ended'));
    const cut = await endAfterCreating('cut');
    for (const key of ['ended', 'cut']) {
      const theirs = await start(key, other.token);
      expect(theirs.headers.get('idempotency-replayed')).toBeNull();
      expect([mine, cut]).not.toContain(await idOf(theirs));
    }
    expect(await idOf(await start('cut'))).toBe(cut);
    expect(await sessions()).toHaveLength(4);
  });
});
