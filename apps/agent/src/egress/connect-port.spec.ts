import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { agentCalls, serverCalls } from '@belay/protocol';
import { memoryConnections } from '@belay/rpc';
import { freePort, until } from '@belay/testing';
import { listeningPorts } from '../terminal/listeners.js';
import { connectPort } from './connect-port.js';

describe.each(['127.0.0.1', '::1'])('a port that listens on %s', (host) => {
  const { server, agent } = memoryConnections({ server: serverCalls, agent: agentCalls });
  agent.accept('preview', ({ port }, stream) => connectPort(port, stream));

  it('is listed while it is open, and joined to a stream with back pressure', async () => {
    const listening = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
    const port = await freePort();
    await once(listening.listen(port, host), 'listening');
    await until('it is listed', () => listeningPorts().includes(port));
    const stream = await server.open('preview', { port });
    const long = 'x'.repeat(3 * 2 ** 20);
    stream.end(long);
    expect((await text(stream)).length).toBe(long.length);
    await new Promise((resolve) => listening.close(resolve));
    const refused = server.open('preview', { port });
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`Nothing accepts connections on port ${port}`) as string,
    });
  });
});
