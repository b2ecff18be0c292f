import { createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { newEvent, type SessionState } from '@belay/protocol';
import { until } from '@belay/testing';
import { SessionConnections } from './session-connections.js';
import { EgressBench } from '../testing/egress-bench.js';

describe('attacks: connections that go on without their session', () => {
  let bench: EgressBench;
  let port: number;
  let arrived = '';
  let open = 0;

  beforeEach(async () => {
    arrived = '';
    open = 0;
    bench = new EgressBench();
    const server = createServer((socket) => {
      open += 1;
      socket.on('close', () => (open -= 1)).on('error', () => undefined);
      socket.on('data', (chunk) => {
        arrived += chunk.toString();
        socket.write(chunk);
      });
    });
    port = await bench.listen(server);
    await bench.open({ profile: 'list', hosts: [`a.test:${port}`] }, [`http://a.test:${port}/`]);
  });
  afterEach(() => bench.close());

  const state = (to: SessionState) =>
    bench.logs.log.append('s', [
      newEvent('server', 'state', { args: { state: to, reason: null }, message: to }),
    ]);
  const echo = async (stream: Duplex, words: string): Promise<string> => {
    const answer = new Promise<Buffer>((resolve) => stream.once('data', resolve));
    stream.write(words);
    return (await answer).toString();
  };

  it.each<SessionState>(['finished', 'failed', 'limited', 'stopped'])(
    'are closed when it is %s, and no new ones are opened until it goes on',
    async (end) => {
      const stream = await bench.connect('a.test', port);
      stream.on('error', () => undefined);
      expect(await echo(stream, 'before\n')).toBe('before\n');
      const closed = new Promise((resolve) => stream.once('close', resolve));
      await state(end);
      await closed;
      await until('the other side is closed', () => open === 0);
      await expect(bench.connect('a.test', port)).rejects.toMatchObject({
        code: 'rejected',
        message: 'The session has ended, so its sandbox opens no connections: restart it.',
      });
      expect(open).toBe(0);
      await state('running');
      expect(await echo(await bench.connect('a.test', port), 'again\n')).toBe('again\n');
    },
  );

  it('stand still in a pause, both ways, and go on after it', async () => {
    const stream = await bench.connect('a.test', port);
    expect(await echo(stream, 'before\n')).toBe('before\n');
    await state('paused');
    await expect(bench.connect('a.test', port)).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringContaining('is paused') as string,
    });
    const answer = new Promise<Buffer>((resolve) => stream.once('data', resolve));
    stream.write('held\n');
    // Long enough for a loopback connection to carry it many times over.
    for (let turn = 0; turn < 200; turn += 1) await new Promise((next) => setImmediate(next));
    expect(arrived).toBe('before\n');
    await state('running');
    expect((await answer).toString()).toBe('held\n');
    expect(arrived).toBe('before\nheld\n');
  });

  it('are closed when it ends in the middle of a pause', async () => {
    const stream = await bench.connect('a.test', port);
    stream.on('error', () => undefined);
    await echo(stream, 'before\n');
    await state('paused');
    stream.write('held\n');
    const closed = new Promise((resolve) => stream.once('close', resolve));
    await state('stopped');
    await closed;
    await until('the other side is closed', () => open === 0);
    expect(arrived).toBe('before\n');
  });

  it('are bounded, for each session and in all, and a closed one makes space', async () => {
    const { log } = bench.logs;
    await bench.logs.session('t');
    const connections = new SessionConnections(log, { perSession: 3, inAll: 4 });
    const slots = [];
    for (let count = 0; count < 3; count += 1) slots.push(await connections.open('s'));
    await expect(connections.open('s')).rejects.toThrow('This session has 3 connections open');
    slots.push(await connections.open('t'));
    await expect(connections.open('t')).rejects.toThrow('This server has 4 connections open');
    slots[0]?.release();
    slots[0]?.release();
    slots.push(await connections.open('t'));
    await expect(connections.open('t')).rejects.toThrow('This server has 4 connections open');
    for (const slot of slots) slot.release();
    (await connections.open('s')).release();
    connections.close();
  });

  it('are bounded by descriptors: 300 dials at once leave 256 open, and other sessions get theirs', async () => {
    const dials = Array.from({ length: 300 }, () => bench.connect('a.test', port));
    const done = await Promise.allSettled(dials);
    const refused = done.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(44);
    await until('all that were opened', () => open === 256);
    for (const one of done) if (one.status === 'fulfilled') one.value.destroy();
    await until('all are closed', () => open === 0);
    expect(await echo(await bench.connect('a.test', port), 'after\n')).toBe('after\n');
  });
});
