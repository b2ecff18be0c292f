import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { keepConnections } from './keep-connections.js';

const request = 'GET / HTTP/1.1\r\nhost: server\r\n\r\n';

describe('an idle connection', () => {
  let server: Server;
  let answered = 0;
  beforeEach(async () => {
    server = createServer((_, response) => {
      answered = performance.now();
      response.end('ok');
    });
    server.keepAliveTimeout = 50;
    server.keepAliveTimeoutBuffer = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const open = async () => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.setEncoding('utf8').write(request);
    await once(client, 'data');
    return client;
  };

  /** A connection that has not timed out yet, as it may have on a busy machine before its first answer was read. */
  const openIdle = async (): Promise<Socket> => {
    for (;;) {
      const client = await open();
      if (performance.now() - answered < server.keepAliveTimeout) return client;
      client.destroy();
    }
  };

  /** Sends a request, and stalls the event loop until after the timeout; the server has not read the request then. */
  const askDuringStall = async (): Promise<string> => {
    const client = await openIdle();
    client.write(request);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    const [answer] = (await once(client, 'data')) as [string];
    client.destroy();
    return answer;
  };

  it('is closed by Node with a request unread in it, after a stall', async () => {
    await expect(askDuringStall()).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('answers a request that arrived during a stall', async () => {
    keepConnections(server, { marginMs: 0 });
    expect(await askDuringStall()).toContain('200 OK');
  });

  it('is closed when nothing arrives', async () => {
    keepConnections(server, { marginMs: 0 });
    await once(await open(), 'close');
  });

  it('may take an hour for one request', () => {
    keepConnections(server);
    expect(server.requestTimeout).toBe(3_600_000);
  });

  it('is closed some time after a refusal of what a client goes on sending', async () => {
    keepConnections(server, { refusedMs: 500 });
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    // What is on its way when the server closes may be answered by a reset.
    const closed = new Promise((resolve) => client.on('error', resolve).on('close', resolve));
    client.write('POST / HTTP/1.1\r\nhost: server\r\ncontent-length: 1000000\r\n\r\n');
    const sending = setInterval(() => client.write('x'), 10);
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString()).toContain('200 OK');
    await closed;
    clearInterval(sending);
  });

  it('is kept longer than announced to its client', async () => {
    keepConnections(server);
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.setEncoding('utf8').write(request);
    const [answer] = (await once(client, 'data')) as [string];
    expect(answer).toContain('Connection: keep-alive');
    expect(server.keepAliveTimeoutBuffer).toBe(60_000);
    client.destroy();
  });
});
