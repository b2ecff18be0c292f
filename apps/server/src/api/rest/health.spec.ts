import { until } from '@belay/testing';
import { Database } from '../../storage/database.js';
import { TestServer } from '../../testing/server.js';

const check = (ok: boolean) => ({ name: 'Docker', ok, detail: '/run/secret.sock', remedy: null });

describe('health probes', () => {
  let server: TestServer;
  afterEach(() => server.close());

  const started = async (engine: object): Promise<void> => {
    server = new TestServer();
    Object.assign(server.sandboxes, engine);
    await server.start();
  };
  const probe = async (path: string) => {
    const response = await server.fetch(path, { token: '' });
    return { status: response.status, body: (await response.json()) as object };
  };

  it('is ready once database and engine are known', async () => {
    await started({ checks: () => Promise.resolve([check(true)]) });
    await until('it is ready', async () => (await probe('/health/ready')).status === 200);
    expect(await probe('/health/ready')).toEqual({
      status: 200,
      body: { ready: true, database: true, engine: true, draining: false, reasons: [] },
    });
    expect(await probe('/health/live')).toEqual({ status: 200, body: { ok: true } });
  });

  it('is not ready before the engine is known', async () => {
    await started({ checks: () => new Promise(() => undefined) });
    expect(await probe('/health/ready')).toMatchObject({
      status: 503,
      body: { ready: false, engine: null, reasons: [expect.stringContaining('engine')] },
    });
  });

  it('is ready without an engine, and says what is missing without names of the machine', async () => {
    await started({ checks: () => Promise.resolve([check(false)]) });
    await until('it is ready', async () => (await probe('/health/ready')).status === 200);
    const { body } = await probe('/health/ready');
    expect(body).toMatchObject({ ready: true, engine: false });
    expect(JSON.stringify(body)).toMatch(/does not respond.*belay doctor/);
    expect(JSON.stringify(body)).not.toContain('secret.sock');
  });

  it('is alive, but not ready, while the database does not respond', async () => {
    await started({ checks: () => Promise.resolve([check(true)]) });
    await until('it is ready', async () => (await probe('/health/ready')).status === 200);
    const held = Promise.withResolvers<void>();
    const database = server.app.get(Database);
    const holding = database.kysely.connection().execute(() => held.promise);
    const asked = jest.spyOn(database, 'migrated');
    try {
      const [ready, health, live] = await Promise.all([
        probe('/health/ready'),
        probe('/health'),
        probe('/health/live'),
      ]);
      expect(ready).toMatchObject({ status: 503, body: { ready: false, database: false } });
      expect(health).toMatchObject({ status: 503, body: { ok: false, database: false } });
      expect(live.status).toBe(200);
      // However many ask.
      expect(asked).toHaveBeenCalledTimes(1);
    } finally {
      held.resolve();
      await holding;
    }
    expect((await probe('/health/ready')).status).toBe(200);
  });

  it('is alive, but not ready, while it shuts down', async () => {
    const held = Promise.withResolvers<void>();
    await started({
      checks: () => Promise.resolve([check(true)]),
      beforeApplicationShutdown: () => held.promise,
    });
    await until('it is ready', async () => (await probe('/health/ready')).status === 200);
    const closing = server.app.close();
    await until('it is draining', async () => (await probe('/health/ready')).status === 503);
    expect((await probe('/health/ready')).body).toMatchObject({ ready: false, draining: true });
    expect((await probe('/health/live')).status).toBe(200);
    held.resolve();
    await closing;
  });
});
