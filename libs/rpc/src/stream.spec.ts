import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import { Writable } from 'node:stream';
import { AppError } from '@belay/protocol';
import { streamWindow } from './byte-stream.js';
import { memoryConnections } from './memory-connections.js';
import type { RpcStream } from './connection.js';

const connections = () => memoryConnections({ server: {}, agent: {} });
const meta = { terminal: 'main', offset: 0 };

/** Both endpoints of an open stream. */
async function pair(): Promise<{ near: RpcStream; far: RpcStream }> {
  const { server, agent } = connections();
  const far = Promise.withResolvers<RpcStream>();
  server.accept('terminal', async (_meta, stream) => far.resolve(stream));
  const near = await agent.open('terminal', meta);
  return { near, far: await far.promise };
}

async function readAll(stream: RpcStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream.iterator({ destroyOnReturn: false }))
    chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('a stream', () => {
  it('carries bytes both ways and half-closes', async () => {
    const { near, far } = await pair();
    const sent = Buffer.alloc(3 * streamWindow + 17, 'abc');
    const finished = once(near, 'finish');
    near.end(sent);
    const got = await readAll(far);
    expect(got.equals(sent)).toBe(true);
    far.end('back');
    expect((await readAll(near)).toString()).toBe('back');
    await finished;
    expect(near.acknowledged).toBe(sent.length);
  });

  it('ends without an error when the reader’s loop has ended', async () => {
    const { near, far } = await pair();
    const ended = once(near, 'close');
    near.end('hello');
    near.resume();
    let text = '';
    for await (const chunk of far) text += String(chunk);
    expect(text).toBe('hello');
    far.destroy();
    await ended;
    expect(near.errored).toBeNull();
    expect(near.acknowledged).toBe(5);
  });

  it('finishes when the peer has consumed everything', async () => {
    const { near, far } = await pair();
    let finished = false;
    near.on('finish', () => (finished = true));
    near.end('hello');
    for (let i = 0; i < 20; i++) await turn();
    expect(finished).toBe(false);
    const done = once(near, 'finish');
    far.resume();
    await done;
    expect(near.acknowledged).toBe(5);
  });

  it('acknowledges a chunk when the body of the reader’s loop has run', async () => {
    const { near, far } = await pair();
    const stored = Promise.withResolvers<void>();
    const reading = (async () => {
      for await (const _chunk of far) await stored.promise;
    })();
    near.write('12345');
    for (let i = 0; i < 20; i++) await turn();
    expect(near.acknowledged).toBe(0);
    stored.resolve();
    while (near.acknowledged < 5) await turn();
    near.end();
    far.end();
    near.resume();
    await reading;
  });

  it('applies back pressure at the window while the reader is slow, and loses nothing', async () => {
    const { near, far } = await pair();
    const chunk = Buffer.alloc(2 ** 16, 1);
    let accepted = 0;
    let open = true;
    while (open && accepted < 100) {
      open = near.write(chunk);
      accepted++;
      if (!open) open = await Promise.race([once(near, 'drain').then(() => true), turns(30)]);
    }
    expect(accepted * chunk.length).toBeGreaterThanOrEqual(streamWindow);
    expect(accepted * chunk.length).toBeLessThanOrEqual(streamWindow + 4 * chunk.length);
    near.end();
    let size = 0;
    const slow = new Writable({
      highWaterMark: 1,
      write: (bytes: Buffer, _encoding, done) => {
        size += bytes.length;
        setImmediate(() => done());
      },
    });
    await pipeline(far, slow, { end: true });
    expect(size).toBe(accepted * chunk.length);
  });

  it('passes an error to the peer', async () => {
    const { near, far } = await pair();
    const failed = once(far, 'error');
    near.destroy(new AppError('disk_full', 'No space is left.'));
    expect((await failed)[0]).toMatchObject({ code: 'disk_full' });
  });

  it('may be refused', async () => {
    const { server, agent } = connections();
    server.accept('terminal', () => Promise.reject(new AppError('rejected', 'Not this one.')));
    await expect(agent.open('terminal', meta)).rejects.toMatchObject({ code: 'rejected' });
    await expect(agent.open('egress', { host: 'a', port: 1 })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(agent.open('terminal', { ...meta, offset: -1 })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  it('ends with the connection', async () => {
    const { server, agent } = connections();
    server.accept('terminal', async () => {});
    const stream = await agent.open('terminal', meta);
    const failed = once(stream, 'error');
    await server.close();
    expect((await failed)[0]).toMatchObject({ code: 'unavailable' });
  });
});

async function turns(count: number): Promise<false> {
  for (let i = 0; i < count; i++) await turn();
  return false;
}
