import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './platform.mjs';
import { median } from './statistics.mjs';

const require = createRequire(import.meta.url);
export const title =
  'events: stored, beside bare better-sqlite3; sent to 100 viewers, beside bare socket.io';

const batch = 100;
const batches = 150;
const viewers = 100;
const rounds = 5;

export async function measure() {
  const bare = [];
  const stored = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(bareInserts());
    stored.push(await appends());
  }
  const fanOuts = { bare: [], belay: [] };
  for (let round = 0; round < 3; round++)
    for (const kind of ['bare', 'belay']) fanOuts[kind].push(await fanOut(kind));
  const insertFloor = median(bare);
  const fanOutFloor = median(fanOuts.bare);
  return [
    {
      what: 'stored',
      figure: median(stored),
      unit: 'events/s',
      target: insertFloor * 0.5,
      floor: insertFloor,
      atLeast: true,
    },
    {
      what: 'delivered to 100 viewers',
      figure: median(fanOuts.belay),
      unit: 'events/s',
      target: fanOutFloor * 0.7,
      floor: fanOutFloor,
      atLeast: true,
    },
  ];
}

/** What an agent writes most: the result of a command. */
export function sample(n) {
  const output = { text: `line ${n} of the output\n`.repeat(8), exitCode: 0, status: 'exited' };
  const args = { id: `call-${n}`, operation: 'terminal.run', ok: true, output, milliseconds: 12 };
  return { source: 'agent', action: 'result', args, message: 'Exit code 0.' };
}

/** Rows a second, by transactions of 100 rows as wide as an event. */
function bareInserts() {
  const Sqlite = require('better-sqlite3');
  const { folder, remove } = temporaryFolder();
  const database = new Sqlite(join(folder, 'bare.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.exec(
    'create table events (session text, seq integer, time text, source text, action text, args text, message text, primary key (session, seq))',
  );
  const insert = database.prepare('insert into events values (?, ?, ?, ?, ?, ?, ?)');
  const write = database.transaction((first) => {
    for (let n = first; n < first + batch; n++) {
      const { source, action, args, message } = sample(n);
      const time = new Date().toISOString();
      insert.run('s', n, time, source, action, JSON.stringify(args), message);
    }
  });
  const begun = performance.now();
  for (let index = 0; index < batches; index++) write(index * batch);
  const seconds = (performance.now() - begun) / 1000;
  database.close();
  remove();
  return (batches * batch) / seconds;
}

/** Events a second through the log of the product: checked, numbered, folded into the summary, published. */
async function appends() {
  const { TestLogs } = require('../../apps/server/dist/testing/logs.js');
  const logs = await new TestLogs().open();
  await logs.session('s');
  const begun = performance.now();
  const turn = (index) =>
    logs.log.append(
      's',
      Array.from({ length: batch }, (_, n) => sample(index * batch + n)),
    );
  await Promise.all(Array.from({ length: batches }, (_, index) => turn(index)));
  const seconds = (performance.now() - begun) / 1000;
  await logs.close();
  return (batches * batch) / seconds;
}

/** Events a second that reach viewers, all of them together; the sender is a process of its own. */
async function fanOut(kind) {
  const file = fileURLToPath(new URL('fan-out-sender.mjs', import.meta.url));
  const sender = spawn(process.execPath, [file, kind], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const address = await new Promise((done) =>
      sender.stdout.once('data', (line) => done(JSON.parse(String(line)))),
    );
    const { count, close, ready } = watchers(kind, address);
    await ready;
    const expected = batches * batch * viewers;
    const begun = performance.now();
    sender.stdin.write(`${JSON.stringify({ batch, batches })}\n`);
    while (count() < expected) await new Promise((done) => setTimeout(done, 5));
    const seconds = (performance.now() - begun) / 1000;
    close();
    return expected / seconds;
  } finally {
    sender.kill();
  }
}

function watchers(kind, address) {
  const { Live } = require('../../libs/client');
  const { io } = require('socket.io-client');
  let received = 0;
  let begun = 0;
  const { promise: ready, resolve } = Promise.withResolvers();
  const arrived = () => ++begun === viewers && resolve();
  const all = Array.from({ length: viewers }, () => {
    if (kind === 'bare') {
      const socket = io(address.url, { transports: ['websocket'] });
      socket.on('ready', arrived);
      socket.on('events', ({ events }) => (received += events.length));
      return socket;
    }
    const live = new Live(address);
    let first = true;
    live.watch(address.session, {
      events: (events) => {
        if (!first) received += events.length;
        if (first) arrived();
        first = false;
      },
    });
    return live;
  });
  return { ready, count: () => received, close: () => all.forEach((each) => each.close()) };
}
