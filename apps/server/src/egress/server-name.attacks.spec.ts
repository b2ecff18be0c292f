import { PassThrough, Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect, createServer, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { itLong, processorMs, sampled } from '@belay/testing';
import { ClientHellos } from './client-hello.js';
import { certificate, EgressBench } from '../testing/egress-bench.js';

describe('attacks: a TLS connection to an allowed host that names another', () => {
  const keys = certificate();
  let bench: EgressBench;
  let port: number;
  const reached: string[] = [];

  beforeEach(async () => {
    reached.length = 0;
    bench = new EgressBench();
    const server = createServer(keys, (socket) => {
      reached.push('reached');
      socket.end('hello from inside');
      socket.on('error', () => undefined);
    });
    server.on('tlsClientError', () => undefined);
    port = await bench.listen(server);
    await bench.open({ profile: 'list', hosts: [`allowed.test:${port}`] }, [
      `https://allowed.test:${port}/`,
    ]);
  });
  afterEach(() => bench.close());

  const speak = async (options: ConnectionOptions): Promise<string> => {
    const stream = await bench.connect('allowed.test', port);
    return said(connect({ ...options, socket: stream, rejectUnauthorized: false }));
  };

  it.each<[string, ConnectionOptions]>(
    sampled(2, [
      ['another name', { servername: 'other.test' }],
      ['no name', {}],
      ['a longer name', { servername: 'allowed.test.other.test' }],
      ['a name below it', { servername: 'x.allowed.test' }],
      ['another name by TLS 1.2', { servername: 'other.test', maxVersion: 'TLSv1.2' }],
      ['no name by TLS 1.2', { maxVersion: 'TLSv1.2' }],
    ]),
  )('is refused with %s', async (_, options) => {
    await expect(speak(options)).rejects.toThrow(/unrecognized name|disconnected|reset|closed/);
    expect(reached).toEqual([]);
    const [event] = await bench.events(1);
    expect(event?.args).toMatchObject({ verdict: 'refused', sent: 0, received: 0 });
    expect(String(event?.args['reason'])).toMatch(/may only name the host|names no server/);
    expect(await speak({ servername: 'allowed.test' })).toBe('hello from inside');
  });

  it.each<[string, ConnectionOptions]>(
    sampled(2, [
      ['TLS 1.3', { minVersion: 'TLSv1.3' }],
      ['TLS 1.2', { maxVersion: 'TLSv1.2' }],
      ['large letters', { servername: 'ALLOWED.test' }],
      ['a retry request of the server', { ecdhCurve: 'X448:P-256' }],
    ]),
  )('passes with its own name, %s', async (_, options) => {
    expect(await speak({ servername: 'allowed.test', ...options })).toBe('hello from inside');
    expect(reached).toHaveLength(1);
  });

  it.each(sampled(1, [1, 3, 7, 60, 500]))('is refused in records of %i bytes too', async (size) => {
    const hello = (name: string) => inRecords(helloOf(name), size);
    const foreign = await bench.connect('allowed.test', port);
    for (const byte of await hello('other.test')) foreign.write(Buffer.of(byte));
    expect(await text(foreign)).toBe(Buffer.from([21, 3, 3, 0, 2, 2, 112]).toString());
    const honest = await bench.connect('allowed.test', port);
    honest.write(await hello('allowed.test'));
    const answer = await new Promise<Buffer>((resolve) => honest.once('data', resolve));
    // A ServerHello, or an alert for what only TLS itself minds.
    expect([22, 21]).toContain(answer[0]);
    expect(answer.subarray(0, 7)).not.toEqual(Buffer.from([21, 3, 3, 0, 2, 2, 112]));
  });

  it('is refused when a second hello names another', async () => {
    const stream = await bench.connect('allowed.test', port);
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.on('error', () => undefined).resume();
    stream.write(await helloOf('allowed.test'));
    stream.write(Buffer.from([20, 3, 3, 0, 1, 1]));
    stream.write(await helloOf('other.test'));
    await closed;
    const [event] = await bench.events(1);
    expect(event?.args['reason']).toMatch(/is for other\.test/);
  });

  itLong('is refused when what begins as TLS is not a hello, or never ends', async () => {
    const faults = [
      Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]),
      Buffer.from([22, 3, 1, 0, 0]),
      Buffer.from([22, 3, 1, 0, 4, 1, 1, 0, 0]),
      Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 0, 0x7f, 0]), Buffer.alloc(40_000)]),
      Buffer.concat([await helloOf('allowed.test'), Buffer.from([22, 3, 3, 0x7f, 0])]),
    ];
    for (const bytes of faults) {
      const stream = await bench.connect('allowed.test', port);
      stream.on('error', () => undefined).resume();
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.end(bytes);
      await closed;
    }
    expect(reached).toEqual([]);
  });

  it('costs no more than its bytes, however small its pieces are', async () => {
    const hellos = new ClientHellos(() => undefined);
    const long = Buffer.concat([Buffer.from([1, 0, 0x7f, 0]), Buffer.alloc(0x7e00)]);
    const bytes = await inRecords(Promise.resolve(Buffer.concat([Buffer.alloc(5), long])), 1);
    const push = () => {
      for (const byte of bytes) hellos.push(Buffer.of(byte));
    };
    expect(processorMs(push)).toBeLessThan(3_000);
    expect(hellos.seen).toBe(false);
  });
});

function said(socket: TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    let all = '';
    socket.on('data', (chunk: Buffer) => (all += chunk.toString()));
    socket.once('end', () => (all ? resolve(all) : reject(new Error('closed without a word'))));
    socket.once('error', reject);
  });
}

/** The first bytes of a client: a hello in one record. */
async function helloOf(servername: string): Promise<Buffer> {
  const sent = new PassThrough();
  const socket = Duplex.from({ readable: new PassThrough(), writable: sent });
  const client = connect({ socket, servername });
  client.on('error', () => undefined);
  const bytes = await new Promise<Buffer>((resolve) => sent.once('data', resolve));
  client.destroy();
  return bytes;
}

/** The same handshake message in records of so many bytes. */
async function inRecords(hello: Promise<Buffer>, size: number): Promise<Buffer> {
  const message = (await hello).subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}
