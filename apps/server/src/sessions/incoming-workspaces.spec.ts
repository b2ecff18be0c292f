import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, type SessionSummary } from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { TestServer } from '../testing/server.js';

describe('a workspace that is sent to its session', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await new TestServer().start({ BELAY_MAX_SANDBOXES: '1' });
  });
  afterEach(() => server.close());

  const create = async (more: object = {}): Promise<string> => {
    const body = { task: 'x', model: 'scripted:x', workspace: 'upload', ...more };
    return (await server.json<SessionSummary>('POST', '/api/sessions', body)).id;
  };
  const send = (id: string, body: RequestInit['body']) => {
    const headers = { 'content-type': 'application/x-tar' };
    const init = { method: 'PUT', body, headers, duplex: 'half' as const };
    return server.fetch(`/api/sessions/${id}/workspace?bytes=2048`, init);
  };
  const stored = () => readdir(join(server.data, 'workspaces')).catch(() => []);

  it('goes into the sandbox, and nowhere else', async () => {
    const id = await create();
    expect((await send(id, tarOfFile('hello'))).status).toBe(204);
    await server.reaches(id, 'running');
    expect(server.sandboxes.agents.get(id)?.files).toBe(tarOfFile('hello'));
    expect(await stored()).toEqual([]);
    expect((await send(id, tarOfFile('again'))).status).toBe(409);
  });

  it('goes there while it is still coming, without a copy in between', async () => {
    const id = await create();
    const tar = tarOfFile('x'.repeat(5_000));
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const sending = send(id, readable);
    const writer = writable.getWriter();
    await writer.write(Buffer.from(tar.slice(0, 2_000)));
    await until('its start', () => server.sandboxes.starts.length === 1);
    expect(await stored()).toEqual([]);
    await writer.write(Buffer.from(tar.slice(2_000)));
    await writer.close();
    expect((await sending).status).toBe(204);
    expect(server.sandboxes.agents.get(id)?.files).toBe(tar);
  });

  it('is kept while there is no sandbox for it', async () => {
    const first = await server.session();
    const second = await create();
    expect((await send(second, tarOfFile('later'))).status).toBe(204);
    expect(await stored()).toEqual([`seed-${second}.tar`]);
    await server.sandboxes.finishes(server.log, first);
    await server.reaches(second, 'running');
    expect(server.sandboxes.agents.get(second)?.files).toBe(tarOfFile('later'));
  });

  itLong('is taken from there by a start that begins while it is still coming', async () => {
    const first = await server.session();
    const second = await create();
    const tar = tarOfFile('x'.repeat(5_000));
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const sending = send(second, readable);
    const writer = writable.getWriter();
    await writer.write(Buffer.from(tar.slice(0, 2_000)));
    await until('it is being kept', async () => (await stored()).length === 1);
    await server.sandboxes.finishes(server.log, first);
    await until('the second start', () => server.sandboxes.starts.length === 2);
    await writer.write(Buffer.from(tar.slice(2_000)));
    await writer.close();
    expect((await sending).status).toBe(204);
    await server.reaches(second, 'running');
    expect(server.sandboxes.agents.get(second)?.files).toBe(tar);
  });

  it('that is not an archive fails the start, and the sender is told why', async () => {
    const id = await create();
    const answer = await send(id, 'no archive '.repeat(100));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('The workspace is not a tar archive.');
    await server.reaches(id, 'failed');
    expect((await server.log.summary(id)).reason).toContain('is not a tar archive');
  });

  it('whose sender breaks off fails the start', async () => {
    const id = await create();
    const aborted = new AbortController();
    let asked = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          asked += 1;
          if (asked === 1)
            controller.enqueue(Buffer.from(tarOfFile('x'.repeat(5_000)).slice(0, 2_000)));
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { 'content-type': 'application/x-tar' };
    const { signal } = aborted;
    const init = { method: 'PUT', body, headers, duplex: 'half' as const, signal };
    const sending = server.fetch(`/api/sessions/${id}/workspace`, init);
    sending.catch(() => undefined);
    await until('it is on its way', () => asked > 1 && server.sandboxes.starts.length === 1);
    aborted.abort();
    await server.reaches(id, 'failed');
    expect((await server.log.summary(id)).reason).toContain('was not sent completely');
  });

  it('is not waited for by a session that was stopped', async () => {
    const id = await create();
    await server.json('POST', `/api/sessions/${id}/stop`, {});
    await server.reaches(id, 'stopped');
    expect([204, 404, 409]).toContain((await send(id, tarOfFile('late'))).status);
  });

  it('of a session that cannot start is refused with the cause', async () => {
    server.sandboxes.failure = new AppError('not_found', 'There is no image x.');
    const id = await create({ image: 'x' });
    await server.reaches(id, 'failed');
    expect((await send(id, tarOfFile('x'))).status).toBe(409);
    await server.json('POST', `/api/sessions/${id}/restart`, {});
    await until('the second failure', async () =>
      ((await server.log.summary(id)).reason ?? '').includes('were not sent here'),
    );
    await expect(access(join(server.data, 'workspaces', `seed-${id}.tar`))).rejects.toThrow();
  });
});
