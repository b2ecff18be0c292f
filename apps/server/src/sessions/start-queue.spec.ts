import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AppError, type SessionSummary } from '@belay/protocol';
import { itLong, until } from '@belay/testing';
import { tarOfFile } from '../testing/fake-sandboxes.js';
import { TestServer } from '../testing/server.js';
import { StartQueue } from './start-queue.js';

const away = () => new AppError('unavailable', 'Docker does not respond.');

describe('sandboxes of sessions', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await new TestServer().start({ BELAY_MAX_SANDBOXES: '1' });
  });
  afterEach(() => server.close());

  const create = async (): Promise<string> =>
    (await server.json<SessionSummary>('POST', '/api/sessions', { task: 'x', model: 'scripted:x' }))
      .id;
  const finish = (id: string) => server.sandboxes.finishes(server.log, id);

  itLong('are waited for while the engine cannot give up one of a finished session', async () => {
    const first = await server.session();
    await finish(first);
    const stop = jest.spyOn(server.sandboxes, 'stop').mockRejectedValueOnce(away());
    const second = await create();
    await server.reaches(second, 'running');
    expect(stop).toHaveBeenCalledTimes(2);
    expect(server.sandboxes.stopped).toEqual([first]);
  });

  it('say what their session should know of them, as its first state', async () => {
    jest.spyOn(server.sandboxes, 'caution').mockReturnValue('Pods can connect to its nodes.');
    const id = await create();
    await server.reaches(id, 'running');
    expect((await server.log.summary(id)).reason).toBe('Pods can connect to its nodes.');
  });

  it('end with the archiving of a finished session, and keep its files', async () => {
    const first = await server.session();
    const archive = (archived: boolean) =>
      server.json('PATCH', `/api/sessions/${first}`, { archived });
    await archive(true);
    await archive(false);
    await finish(first);
    await server.json('PATCH', `/api/sessions/${first}`, { title: 'kept' });
    expect(server.sandboxes.stopped).toEqual([]);
    await archive(true);
    await until('the end of the sandbox', () => server.sandboxes.stopped.length === 1);
    expect(server.sandboxes.stopped).toEqual([first]);
  });

  it('are not started for a session that was stopped while none was free', async () => {
    const refused = Promise.withResolvers<void>();
    const start = jest
      .spyOn(server.sandboxes, 'start')
      .mockImplementationOnce(() => refused.promise);
    const first = await create();
    await until('the start', () => start.mock.calls.length === 1);
    await server.json('POST', `/api/sessions/${first}/stop`, {});
    refused.reject(new AppError('limit_reached', 'All sandboxes are taken.'));
    const second = await server.session();
    await server.json('DELETE', `/api/sessions/${second}`);
    await server.session();
    expect(start.mock.calls.filter(([{ session }]) => session === first)).toHaveLength(1);
  });

  it('are not started for a session that is being deleted', async () => {
    const id = await server.session();
    await finish(id);
    const remove = server.sandboxes.remove.bind(server.sandboxes);
    const woken: Promise<unknown>[] = [];
    jest.spyOn(server.sandboxes, 'remove').mockImplementationOnce(async (session) => {
      await remove(session);
      woken.push(server.app.get(StartQueue).wakeIfGone(id).catch(String));
    });
    await server.json('DELETE', `/api/sessions/${id}`);
    expect(await Promise.all(woken)).toEqual([expect.stringContaining('There is no session')]);
    expect(server.sandboxes.agents.has(id)).toBe(false);
    // Its place is free again.
    await server.reaches(await create(), 'running');
  });

  it('that are ending have ended before their files are read or they are woken', async () => {
    const queue = server.app.get(StartQueue);
    const stopped = async (): Promise<{ id: string; patch: Readable }> => {
      const patch = new Readable({ read: () => undefined });
      server.sandboxes.patch = () => patch;
      const id = await server.session();
      await server.json('POST', `/api/sessions/${id}/stop`, {});
      const isKept = () => server.sandboxes.agents.get(id)?.exports.length === 1;
      await until('the patch is being kept', isKept);
      return { id, patch };
    };
    const end = (patch: Readable): void => {
      patch.push('whole');
      patch.push(null);
    };
    const first = await stopped();
    const reading = jest.spyOn(queue, 'untilHalted');
    const read = server.fetch(`/api/sessions/${first.id}/patch`);
    await until('the request', () => reading.mock.calls.length === 1);
    end(first.patch);
    expect(await (await read).text()).toBe('whole');

    const second = await stopped();
    const waking = jest.spyOn(queue, 'wakeIfGone');
    const woken = server.json('POST', `/api/sessions/${second.id}/wake`, {});
    await until('the request', () => waking.mock.calls.length === 1);
    end(second.patch);
    await woken;
    const starts = server.sandboxes.starts.filter(({ session }) => session === second.id);
    expect(starts).toHaveLength(2);
    expect(server.sandboxes.agents.has(second.id)).toBe(true);
  });

  itLong('are counted as free when one is lost and the log cannot be written', async () => {
    const first = await server.session();
    const full = new AppError('disk_full', 'The disk is full.');
    jest.spyOn(server.log, 'append').mockRejectedValueOnce(full);
    const logged = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    server.sandboxes.lose(first, 'The container was killed.');
    const second = await create();
    await server.reaches(second, 'running');
    logged.mockRestore();
  });
});

it('an example whose description is wrong is named, and hides no other', async () => {
  const examples = await mkdtemp(join(tmpdir(), 'belay-examples-'));
  const contents = { good: 'task: Fix', broken: 'task: [', empty: 'title: only' };
  for (const [name, yaml] of Object.entries(contents)) {
    await mkdir(join(examples, 'sessions', name), { recursive: true });
    await writeFile(join(examples, 'sessions', name, 'session.yaml'), yaml);
  }
  const server = await new TestServer().start({ BELAY_EXAMPLES: examples });
  try {
    expect(await server.json('GET', '/api/examples')).toMatchObject([
      { name: 'good', model: 'scripted:example:good' },
    ]);
    for (const name of ['broken', 'empty']) {
      const body = { task: 'x', model: 'scripted:x', workspace: `example:${name}` };
      const detail = expect.stringContaining(`${name} has an invalid session.yaml`);
      expect(await server.json('POST', '/api/sessions', body)).toMatchObject({
        status: 400,
        detail,
      });
    }
  } finally {
    await server.close();
    await rm(examples, { recursive: true, force: true });
  }
});

it('uploads that no session ever used go after a day', async () => {
  const server = await new TestServer().start();
  try {
    const upload = async (): Promise<string> => {
      const headers = { 'content-type': 'application/x-tar' };
      const init = { method: 'POST', body: tarOfFile('x'), headers };
      const answer = (await (await server.fetch('/api/workspaces', init)).json()) as {
        workspace: string;
      };
      return answer.workspace;
    };
    const [used, unused, fresh] = [await upload(), await upload(), await upload()];
    await server.session({ workspace: used });
    const folder = join(server.data, 'workspaces');
    for (const name of ['cut.part', 'seed-gone.tar']) await writeFile(join(folder, name), 'x');
    const old = new Date(Date.now() - 25 * 3600_000);
    for (const name of [`${used}.tar`, `${unused}.tar`, 'cut.part', 'seed-gone.tar'])
      await utimes(join(folder, name), old, old);
    await server.restart();
    const left = [`${used}.tar`, `${fresh}.tar`].toSorted();
    await until('the clearing', async () => {
      const names = await readdir(folder);
      return names.length === left.length && names.toSorted().join() === left.join();
    });
  } finally {
    await server.close();
  }
});
