// The sending half of 11-events.mjs: prints its address, and on a line of input sends batches of events.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { sample } from './11-events.mjs';

const require = createRequire(import.meta.url);
const senders = { bare: bareSocketIo, belay: product };
const { address, send } = await senders[process.argv[2]]();
process.stdout.write(`${JSON.stringify(address)}\n`);
for await (const line of createInterface(process.stdin)) {
  const { batch, batches } = JSON.parse(line);
  for (let index = 0; index < batches; index++) {
    await send(Array.from({ length: batch }, (_, n) => sample(index * batch + n)));
    await new Promise((done) => setImmediate(done));
  }
}

async function bareSocketIo() {
  const { Server } = require('socket.io');
  const http = createServer();
  const io = new Server(http, { transports: ['websocket'] });
  io.on('connection', (socket) => socket.emit('ready'));
  await new Promise((done) => http.listen(0, '127.0.0.1', done));
  let seq = 0;
  return {
    address: { url: `http://127.0.0.1:${http.address().port}` },
    send: async (events) => {
      const time = new Date().toISOString();
      io.emit('events', {
        session: 's',
        events: events.map((event) => ({ seq: ++seq, time, ...event })),
      });
    },
  };
}

/** The server of the product, whole but for containers and models. */
async function product() {
  const { TestServer } = require('../../apps/server/dist/testing/server.js');
  const server = await new TestServer().start();
  const session = await server.session();
  return {
    address: { url: server.url, token: server.token, session },
    send: (events) => server.log.append(session, events),
  };
}
