import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { describeSystem, docker, script } from '@belay/testkit';
import { until } from '@belay/testing';
import { pack, type Headers } from 'tar-stream';

type Entry = [Headers, string?];

describeSystem('attacks: uploaded workspaces', (server) => {
  const create = () => {
    const turns = [{ calls: [{ operation: 'ask', input: { question: 'Done?' } }] }];
    const model = script(server.data, turns);
    return server.client.sessions.create({ task: 'Wait', model, workspace: 'upload' });
  };
  const archive = (...entries: Entry[]): Promise<Buffer> => {
    const tar = pack();
    for (const [header, content] of entries) tar.entry(header, content ?? '');
    tar.finalize();
    return buffer(tar);
  };
  const put = (id: string) => {
    const headers = {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/x-tar',
    };
    const path = `${server.url}/api/sessions/${id}/workspace`;
    const sent = request(path, { method: 'PUT', headers }).on('error', () => undefined);
    const answer = once(sent, 'response').then(async ([response]) => {
      const { statusCode } = response as IncomingMessage;
      return { status: statusCode, body: await text(response as IncomingMessage) };
    });
    answer.catch(() => undefined);
    return { sent, answer };
  };
  const honest = () => archive([{ name: 'a.txt' }, 'honest\n']);
  const containers = () =>
    docker.listContainers({ all: true, filters: { label: [`belay.data=${server.data}`] } });
  const volumes = async () => {
    const filters = JSON.stringify({ label: [`belay.data=${server.data}`] }) as never;
    return (await docker.listVolumes({ filters })).Volumes ?? [];
  };
  const ends = (id: string, state: string) =>
    until(`${id} is ${state}`, async () => (await server.client.sessions.get(id)).state === state);
  const nothingIsLeft = () =>
    until('nothing is left', async () => {
      const left = [...(await containers()), ...(await volumes())];
      return left.length === 0;
    });

  /** Control: an honest archive works the same way. */
  const isUnharmed = async (): Promise<void> => {
    await nothingIsLeft();
    const { id } = await create();
    const { sent, answer } = put(id);
    sent.end(await honest());
    expect(await answer).toMatchObject({ status: 204 });
    await ends(id, 'waiting');
    const read = await server.client.sessions.call(id, 'files.read', { path: 'a.txt' });
    expect(read).toMatchObject({ content: 'honest\n' });
    await server.client.sessions.remove(id);
  };

  it('an archive with a false size, path, link or type fails its own session', async () => {
    const link: Entry = [{ name: 'l', type: 'symlink', linkname: '/home' }];
    const lies: [Entry[], RegExp, ((tar: Buffer) => Buffer)?][] = [
      [[[{ name: 'f' }, 'x'.repeat(600)]], /it is incomplete/, (tar) => tar.subarray(0, 1_024)],
      [[[{ name: '../f' }, 'x']], /leads out of the workspace: ..\/f/],
      [[link, [{ name: 'l/f' }, 'x']], /writes l\/f through a link/],
      [[[{ name: 'zero', type: 'character-device' }]], /it contains a device, zero/],
      [
        [[{ name: 'f' }, 'x']],
        /damaged/,
        (tar) => Buffer.concat([tar.subarray(0, 1_024), Buffer.alloc(1_024, 7)]),
      ],
    ];
    for (const [entries, fault, change = (tar: Buffer) => tar] of lies) {
      const { id } = await create();
      const { sent, answer } = put(id);
      sent.end(change(await archive(...entries)));
      const { status, body } = await answer;
      expect(body).toMatch(fault);
      expect([400, 403]).toContain(status);
      await ends(id, 'failed');
      expect((await server.client.sessions.get(id)).reason).toMatch(fault);
    }
    await isUnharmed();
  });

  it('a stop, a deletion or a kill -9 of the server during the upload leaves nothing behind', async () => {
    const half = (await archive([{ name: 'f' }, 'x'.repeat(500_000)])).subarray(0, 300_000);
    const sending = async () => {
      const { id } = await create();
      const { sent, answer } = put(id);
      sent.write(half);
      await until('a container', async () => (await containers()).length > 0);
      return { id, sent, answer };
    };
    const stopped = await sending();
    await server.client.sessions.stop(stopped.id);
    expect((await stopped.answer).status).toBe(409);
    await nothingIsLeft();
    const deleted = await sending();
    await server.client.sessions.remove(deleted.id);
    expect((await deleted.answer).status).toBe(409);
    await nothingIsLeft();
    const killed = await sending();
    const broken = killed.answer.catch((error: NodeJS.ErrnoException) => error.code);
    await server.end('SIGKILL');
    expect(await broken).toBe('ECONNRESET');
    await server.start();
    await ends(killed.id, 'failed');
    expect((await server.client.sessions.get(killed.id)).reason).toContain('were not sent here');
    const { sent, answer } = put(killed.id);
    sent.end(await honest());
    expect((await answer).status).toBe(409);
    expect(readdirSync(server.data)).not.toContain('workspaces');
    await isUnharmed();
  });
});
