import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { containerOf, describeSystem, idle } from '@belay/testkit';
import { eventually, until } from '@belay/testing';
import { WebSocket } from 'ws';
import { attackFromPrograms, expectAlive, serverMemory } from './agent-connection.js';

const mebibyte = 2 ** 20;

describeSystem('attacks: the agent connection', (server) => {
  it('01, 08, 10, 11, 12, 19, 26: programs of a root sandbox get no further than the upgrade request', () =>
    attackFromPrograms(server, 'root'));

  it('01, 08, 10, 41, 46: no message ends the server, not even one sent with the agent’s id', async () => {
    const [session, other] = [await idle(server), await idle(server)];
    const container = await containerOf(session.id);
    const { Mounts } = await container.inspect();
    const folder = Mounts.find(({ Destination }) => Destination === '/run/belay')?.Source ?? '';
    // Simulates a stolen agent id, which no program can obtain: the server’s record is changed to
    // expect this one.
    const id = 'an-id-that-was-stolen';
    await server.end();
    // On a busy machine, runc may fail to freeze the container.
    await until('the pause', () =>
      container.pause().then(
        () => true,
        () => false,
      ),
    );
    const file = join(server.data, 'sandboxes', `${session.id}.json`);
    const record = JSON.parse(readFileSync(file, 'utf8')) as { agent: string };
    expect(record.agent).toMatch(/^[0-9a-f]{64}$/);
    const agent = createHash('sha256').update(id).digest('hex');
    writeFileSync(file, JSON.stringify({ ...record, agent }));
    await server.start();
    // The other session reconnects first.
    await eventually(() => expectAlive(server, other));
    const before = serverMemory(server);
    const attack = async (...messages: Buffer[]) => {
      const socket = new WebSocket('ws://agent/agent', {
        createConnection: () => connect(join(folder, 'agent.sock')),
        headers: { 'x-belay-agent': id },
        perMessageDeflate: false,
      });
      const replies: string[] = [];
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.on('error', () => {});
      socket.on('message', (bytes: Buffer) => replies.push(bytes.toString('latin1')));
      await once(socket, 'open');
      for (const message of messages) socket.send(message);
      return { socket, replies, closed };
    };
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
    const events = `{"session":"${session.id}","epoch":0,"events":[{"args":${deep}}]}`;
    const refused = await attack(
      greeting(`{"self":"${id}","peer":null}`),
      frame(1, { kind: 'call', id: 'deep', name: 'events.append' }, events),
    );
    await until('the refusal', () =>
      refused.replies.some((text) => text.includes('nested deeper')),
    );
    // While the first connection is open, a second one with the same id is refused.
    await expect(attack()).rejects.toThrow('409');
    refused.socket.terminate();
    const long = { kind: 'call', id: 'x'.repeat(70 * mebibyte), name: 'hello' };
    // The server accepts the next connection once it has noticed that the previous one is closed.
    const after = (...messages: Buffer[]) =>
      until('it is let in', () => attack(...messages).catch(() => undefined));
    const ended = await after(greeting('{"self":"a","peer":null}'), frame(1, long, '{}'));
    await ended.closed;
    const half = await after(greeting('{"self":"b","peer":null}'));
    for (let count = 0; count < 1_000; count++) half.socket.send(Buffer.alloc(1), { fin: false });
    await half.closed;
    await expectAlive(server, other);
    const grown = serverMemory(server) - before;
    process.stdout.write(
      `Server: ${Math.round(before)} MiB before, ${Math.round(grown)} more after.\n`,
    );
    expect(grown).toBeLessThan(400);
    expect((await server.client.sessions.list()).map((each) => each.id)).toContain(session.id);
    await container.unpause();
    session.close();
    other.close();
  });
});

const greeting = (ids: string): Buffer =>
  Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0]), Buffer.from(ids)]);

function frame(seq: number, head: object, json: string): Buffer {
  const [first, second] = [Buffer.from(JSON.stringify(head)), Buffer.from(json)];
  const start = Buffer.from([2, 0, 0, 0, 0, 0, seq, 0, 0, 0, 0, 0, 0, 0, 0]);
  start.writeUInt32BE(first.length, 7);
  start.writeUInt32BE(second.length, 11);
  return Buffer.concat([start, first, second]);
}
