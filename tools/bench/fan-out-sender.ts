// The sending half of 11-events.ts: prints its address, and sends batches of events for each line
// of input.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { NewEvent } from '@belay/protocol';
import { TestServer } from '@belay/server/dist/testing/server.js';
import { Server } from 'socket.io';
import { sample } from './sample-event.ts';

/** The address of a sender; the product also needs a token and a session. */
export interface SenderAddress {
  url: string;
  token?: string;
  session?: string;
}

interface Sender {
  address: SenderAddress;
  send(events: NewEvent[]): Promise<unknown>;
}

const { address, send } = await (process.argv[2] === 'bare' ? bareSocketIo() : product());
process.stdout.write(`${JSON.stringify(address)}\n`);
for await (const line of createInterface(process.stdin)) {
  const { batch, batches } = JSON.parse(line) as { batch: number; batches: number };
  for (let index = 0; index < batches; index++) {
    await send(Array.from({ length: batch }, (_, n) => sample(index * batch + n)));
    await new Promise((done) => setImmediate(done));
  }
}

async function bareSocketIo(): Promise<Sender> {
  const http = createServer();
  const io = new Server(http, { transports: ['websocket'] });
  io.on('connection', (socket) => socket.emit('ready'));
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  let seq = 0;
  return {
    address: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` },
    send: async (events) => {
      const time = new Date().toISOString();
      io.emit('events', {
        session: 's',
        events: events.map((event) => ({ seq: ++seq, time, ...event })),
      });
    },
  };
}

/** The whole server of the product, except containers and models. */
async function product(): Promise<Sender> {
  const server = await new TestServer().start();
  const session = await server.session();
  return {
    address: { url: server.url, token: server.token, session },
    send: (events) => server.log.append(session, events),
  };
}
