import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { AppError, type SessionSummary } from '@belay/protocol';
import { itLong, pause, sampled, until } from '@belay/testing';
import { refuseSlowSender } from '../api/rest/slow-sender.js';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { TestServer } from '../testing/server.js';

describe('attacks: workspaces that are sent', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await new TestServer().start({
      BELAY_MAX_SANDBOXES: '1',
      BELAY_MAX_WORKSPACE_MB: '1',
    });
  });
  const open: ClientRequest[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.destroy();
    return server.close();
  });

  const create = async (more: object = {}): Promise<string> => {
    const body = { task: 'x', model: 'scripted:x', workspace: 'upload', ...more };
    return (await server.json<SessionSummary>('POST', '/api/sessions', body)).id;
  };

  /** Begins to send a workspace; it goes on as long as the test writes. */
  const sending = (id: string, token = server.token) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-tar' };
    const sent = request(`${server.url}/api/sessions/${id}/workspace?bytes=1`, {
      method: 'PUT',
      headers,
    });
    open.push(sent);
    sent.on('error', () => undefined);
    const status = once(sent, 'response').then(([response]) => {
      const { statusCode } = response as IncomingMessage;
      (response as IncomingMessage).resume();
      return statusCode;
    });
    status.catch(() => undefined);
    return { sent, status };
  };
  const half = tarOfFile('x'.repeat(5_000)).slice(0, 2_000);

  /** What every attack leaves: no files, and a server that serves the next session. */
  const isUnharmed = async (): Promise<void> => {
    await until('no file is left', async () => {
      const names = await readdir(join(server.data, 'workspaces')).catch(() => []);
      return names.length === 0;
    });
    const id = await create();
    const { sent, status } = sending(id);
    sent.end(tarOfFile('honest'));
    expect(await status).toBe(204);
    await server.reaches(id, 'running');
    expect(server.sandboxes.agents.get(id)?.files).toBe(tarOfFile('honest'));
  };

  it.each(
    sampled(1, [
      ['stopped', 'POST', '/stop'],
      ['deleted', 'DELETE', ''],
    ]),
  )('a sender that stalls holds no sandbox of a session that is %s', async (_, method, path) => {
    const id = await create();
    const { sent, status } = sending(id);
    sent.write(half);
    await until('the start', () => server.sandboxes.starts.length === 1);
    await server.json(method, `/api/sessions/${id}${path}`, method === 'POST' ? {} : undefined);
    expect(await status).toBe(409);
    await isUnharmed();
  });

  itLong('nothing is kept for sessions that were stopped before they had a sandbox', async () => {
    const first = await server.session();
    const ids = await Promise.all(Array.from({ length: 20 }, () => create()));
    const sendings = ids.map((id) => sending(id));
    for (const { sent } of sendings) sent.write(half);
    const names = () => readdir(join(server.data, 'workspaces')).catch(() => []);
    await until('all are being kept', async () => (await names()).length === ids.length);
    for (const id of ids) await server.json('POST', `/api/sessions/${id}/stop`, {});
    const statuses = await Promise.all(sendings.map(({ status }) => status));
    expect(statuses).toEqual(ids.map(() => 409));
    await server.json('DELETE', `/api/sessions/${first}`);
    await isUnharmed();
  });

  it('one is refused for a session that has ended, was deleted, waits for none or has one', async () => {
    const waitsForNone = await server.session();
    const ended = await create();
    await server.json('POST', `/api/sessions/${ended}/stop`, {});
    const deleted = await create();
    await server.json('DELETE', `/api/sessions/${deleted}`);
    const has = await create();
    sending(has).sent.write(half);
    for (const id of [waitsForNone, ended, deleted, 'none', has]) {
      const { sent, status } = sending(id);
      sent.end(tarOfFile('x'));
      expect([id, await status]).toEqual([id, 409]);
    }
    for (const id of [has, waitsForNone]) await server.json('DELETE', `/api/sessions/${id}`);
    await isUnharmed();
  });

  it('a viewer’s is refused before any of it is read', async () => {
    const id = await create();
    const { sent, status } = sending(id, server.viewerToken);
    sent.write(half);
    expect(await status).toBe(403);
    await server.json('DELETE', `/api/sessions/${id}`);
    await isUnharmed();
  });

  it.each(sampled(1, ['to the disk', 'into the sandbox']))(
    'a body without end is refused at the limit on its way %s',
    async (way) => {
      const holder = way === 'to the disk' ? await server.session() : undefined;
      const id = await create();
      const { sent, status } = sending(id);
      sent.write(tarOfFile('x'.repeat(500)).slice(0, 1_024));
      createReadStream('/dev/zero').pipe(sent);
      expect(await status).toBe(413);
      sent.destroy();
      for (const each of [id, holder])
        if (each) await server.json('DELETE', `/api/sessions/${each}`);
      await isUnharmed();
    },
  );

  it('a client that reads nothing before it has sent all gets the refusal', async () => {
    const id = await create();
    const { sent, status } = sending(id);
    const sentAll = once(sent, 'finish');
    sent.end(Buffer.alloc(30 * 1024 * 1024, tarOfFile('x')));
    await sentAll;
    expect(await status).toBe(413);
    await server.json('DELETE', `/api/sessions/${id}`);
    await isUnharmed();
  });

  it('a disk that must keep its last space takes none', async () => {
    await server.restart({ BELAY_MAX_SANDBOXES: '1', BELAY_KEEP_FREE_MB: '1000000000' });
    const upload = async () => {
      const headers = { 'content-type': 'application/x-tar' };
      const init = { method: 'POST', body: tarOfFile('x'), headers };
      return (await server.fetch('/api/workspaces', init)).status;
    };
    expect(await upload()).toBe(507);
    // What goes straight into a sandbox takes none of it.
    await isUnharmed();
    await server.restart({ BELAY_MAX_SANDBOXES: '1' });
    expect(await upload()).toBe(201);
  });
});

describe('attacks: the pace of a sender', () => {
  it('a sender that trickles is refused; a slow reader is not its fault', async () => {
    const results = new Map<string, unknown>();
    const taking = createServer((incoming, response) => {
      const target = incoming.pipe(new PassThrough({ highWaterMark: 1_000 }));
      const end = refuseSlowSender(incoming, target, { bytes: 500, ms: 400 });
      target.once('error', (error) => results.set(incoming.url ?? '', error));
      target.once('close', () => {
        end();
        response.end();
      });
      const read = () => target.resume().once('end', () => results.set('/fast', 'read'));
      if (incoming.url === '/trickle') target.resume();
      else
        void pause(2_000, 'nothing is read for five times as long as a sender may take').then(read);
    });
    await new Promise<void>((resolve) => taking.listen(0, '127.0.0.1', resolve));
    const { port } = taking.address() as AddressInfo;
    const put = (path: string) => {
      const sent = request({ port, path, method: 'PUT' });
      return sent.on('error', () => undefined);
    };
    const trickle = put('/trickle');
    const timer = setInterval(() => trickle.write('x'), 20);
    const fast = put('/fast');
    fast.end(Buffer.alloc(100_000));
    await until('both have ended', () => results.size === 2, { state: () => [...results] });
    clearInterval(timer);
    expect(results.get('/trickle')).toBeInstanceOf(AppError);
    expect(results.get('/trickle')).toMatchObject({ code: 'timeout' });
    expect(results.get('/fast')).toBe('read');
    trickle.destroy();
    taking.closeAllConnections();
    taking.close();
  });
});
