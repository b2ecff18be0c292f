import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryInUse, sampled } from '@belay/testing';
import { createClient } from './rest.js';

describe('an upload as a stream', () => {
  let server: Server;
  let url: string;
  beforeEach(async () => {
    server = createServer((request, response) => {
      request.resume().once('end', () => response.writeHead(204).end());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => server.close());

  it.each(sampled(1, [60, 200]))(
    'of %i MiB is not kept in memory while it is sent',
    async (size) => {
      const chunk = 2 ** 20;
      let left = size;
      let most = 0;
      const content = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (left % 20 === 0) most = Math.max(most, memoryInUse().arrayBuffers);
            if (left-- === 0) controller.close();
            else controller.enqueue(new Uint8Array(chunk));
          },
        },
        { highWaterMark: 1 },
      );
      const before = memoryInUse().arrayBuffers;
      await createClient({ url }).uploads.toSession('s', content);
      expect(most - before).toBeLessThan((size / 2) * chunk);
    },
  );
});
