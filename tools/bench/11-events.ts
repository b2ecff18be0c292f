import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LiveConnection } from '@belay/client';
import { TestLogs } from '@belay/server/dist/testing/logs.js';
import Sqlite from 'better-sqlite3';
import { io } from 'socket.io-client';
import type { SenderAddress } from './fan-out-sender.ts';
import { temporaryFolder } from './platform.ts';
import { sample } from './sample-event.ts';
import { median } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title =
  'events: stored, beside bare better-sqlite3; sent to 100 viewers, beside bare socket.io';

/** socket.io alone, or the product. */
type Kind = 'bare' | 'belay';

const batch = 100;
const batches = 150;
const viewers = 100;
/** Code runs at its usual speed from the fourth on, so that the median is of warm ones. */
const rounds = 9;

export async function measure(): Promise<Row[]> {
  const bare: number[] = [];
  const stored: number[] = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(bareInserts());
    stored.push(await appends());
  }
  const fanOuts: Record<Kind, number[]> = { bare: [], belay: [] };
  for (let round = 0; round < 3; round++)
    for (const kind of ['bare', 'belay'] as const) fanOuts[kind].push(await fanOut(kind));
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

/** Rows per second, in transactions of 100 rows as large as events. */
function bareInserts(): number {
  const { folder, remove } = temporaryFolder();
  const database = new Sqlite(join(folder, 'bare.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.exec(
    'create table events (session text, seq integer, time text, source text, action text, args text, message text, primary key (session, seq))',
  );
  const insert = database.prepare('insert into events values (?, ?, ?, ?, ?, ?, ?)');
  const write = database.transaction((first: number) => {
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

/**
 * Events per second through the log of the product: validated, numbered, added to the summary,
 * published.
 */
async function appends(): Promise<number> {
  const logs = await new TestLogs().open();
  await logs.session('s');
  const begun = performance.now();
  const turn = (index: number) =>
    logs.log.append(
      's',
      Array.from({ length: batch }, (_, n) => sample(index * batch + n)),
    );
  await Promise.all(Array.from({ length: batches }, (_, index) => turn(index)));
  const seconds = (performance.now() - begun) / 1000;
  await logs.close();
  return (batches * batch) / seconds;
}

/** Events per second that reach all viewers together; the sender is a separate process. */
async function fanOut(kind: Kind): Promise<number> {
  const file = fileURLToPath(new URL('fan-out-sender.ts', import.meta.url));
  const sender = spawn(process.execPath, [file, kind], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(sender.stdout, 'data')) as [Buffer];
    const address = JSON.parse(String(line)) as SenderAddress;
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

function watchers(kind: Kind, address: SenderAddress) {
  let received = 0;
  let begun = 0;
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const arrived = () => ++begun === viewers && resolve();
  const all = Array.from({ length: viewers }, () => {
    if (kind === 'bare') {
      const socket = io(address.url, { transports: ['websocket'] });
      socket.on('ready', arrived);
      socket.on('events', ({ events }: { events: unknown[] }) => (received += events.length));
      return socket;
    }
    const live = new LiveConnection(address);
    let first = true;
    live.watch(address.session ?? '', {
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
