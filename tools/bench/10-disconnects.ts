import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { LiveConnection } from '@belay/client';
import type { BelayServer } from '@belay/testkit';
import { until } from '@belay/testing';
import { breakingProxy, type BreakingProxy } from '../breaking-proxy.ts';
import { idleSession, temporaryFolder, viewer, withServer } from './platform.ts';
import { median, percentile } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = '1,000 random disconnects, of a viewer and of the agent';

const cutsEach = 500;
const within = { timeoutMs: 30_000, intervalMs: 2 };
const count = 'i=0; while :; do i=$((i+1)); echo "<$i>"; sleep 0.005; done';

/**
 * Both sides are disconnected concurrently, each at random moments; a second viewer stays
 * connected.
 */
export async function measure(): Promise<Row[]> {
  const runtime = temporaryFolder();
  const measureIn = async (server: BelayServer): Promise<Row[]> => {
    const stop = new AbortController();
    const connected = interceptConnection(runtime.folder, stop.signal);
    const session = await idleSession(server);
    session.close();
    const connection = await connected;
    const { sessions } = server.client;
    const proxy = await breakingProxy(Number(new URL(server.url).port), 0);
    const cut = watchAll(viewer(server, proxy.url), session.id);
    const steady = watchAll(server.live, session.id);
    try {
      await sessions.call(session.id, 'terminal.run', { command: count, background: true });
      const writing = keepWriting(server, session.id, stop.signal);
      // Awaited below; if something else fails first, that error should be reported.
      writing.catch(() => {});
      const [viewers, agents] = await Promise.all([
        breaks(proxy, () => cut.bytes),
        breaks(connection, () => steady.bytes),
      ]);
      stop.abort();
      const files = await writing;
      await sessions.call(session.id, 'terminal.interrupt', { kill: true });
      const { lastSeq } = await sessions.get(session.id);
      const log = await sessions.terminal(session.id, 'main');
      await until(
        'all at the viewer',
        () => cut.lastSeq >= lastSeq && cut.end >= log.length,
        within,
      );
      const numbers = numbersIn(log);
      const events = await sessions.events(session.id, { limit: 50_000 });
      const written = events.filter((event) => event.action === 'result' && event.args.ok).length;
      return [
        row('gaps', cut.gaps + holes(numbers) + Math.max(0, files - written)),
        row('duplicates', cut.duplicates + twice(numbers)),
        row('viewer’s bytes that differ from the log', cut.differ(log)),
        ...times('viewer back', viewers),
        ...times('agent back', agents),
      ];
    } finally {
      stop.abort();
      cut.close();
      proxy.close();
      connection.close();
    }
  };
  try {
    return await withServer({ XDG_RUNTIME_DIR: runtime.folder }, measureIn);
  } finally {
    runtime.remove();
  }
}

const row = (what: string, figure: number): Row => ({ what, figure, unit: '', target: 0 });
const times = (what: string, samples: number[]): Row[] => [
  { what: `${what}, median`, figure: median(samples), unit: 'ms', target: 200 },
  { what: `${what}, p95`, figure: percentile(samples, 0.95), unit: 'ms', target: null },
];

/**
 * Disconnects repeatedly after random pauses; returns how long it took each time until bytes
 * arrived again.
 */
async function breaks(proxy: BreakingProxy, received: () => number): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < cutsEach; index++) {
    await new Promise((done) => setTimeout(done, Math.random() * 40));
    proxy.cut();
    const begun = performance.now();
    // Bytes that were in transit before the cut do not count.
    await new Promise((done) => setTimeout(done, 5));
    const before = received();
    await until('new bytes after a break', () => received() > before, within);
    samples.push(performance.now() - begun);
  }
  return samples;
}

/**
 * Replaces the connection’s socket by a proxy as soon as the server has put it into place: it is made
 * in a folder whose name begins with a tilde.
 */
async function interceptConnection(folder: string, signal: AbortSignal): Promise<BreakingProxy> {
  for (;;) {
    const found = existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) =>
          /^[^~]+\/agent\.sock$/.test(path),
        )
      : undefined;
    if (found) {
      const socket = join(folder, found);
      const real = `${socket}-real`;
      renameSync(socket, real);
      return breakingProxy(real, socket);
    }
    signal.throwIfAborted();
    await new Promise((done) => setTimeout(done, 1));
  }
}

/**
 * Calls an operation continuously as the user, so that there are events too; each call waits for
 * reconnection.
 */
async function keepWriting(
  { client }: BelayServer,
  session: string,
  signal: AbortSignal,
): Promise<number> {
  let written = 0;
  while (!signal.aborted) {
    await client.sessions.call(session, 'files.write', {
      path: 'n.txt',
      content: String(++written),
    });
    await new Promise((done) => setTimeout(done, 50));
  }
  return written;
}

/** Compares what a viewer receives of a session with what it should receive. */
function watchAll(live: LiveConnection, id: string) {
  const pieces: Buffer[] = [];
  const seen = { gaps: 0, duplicates: 0, lastSeq: 0, end: 0, bytes: 0 };
  live.watch(id, {
    events: (events) => {
      for (const { seq } of events) {
        if (seq <= seen.lastSeq) seen.duplicates++;
        else if (seq > seen.lastSeq + 1) seen.gaps++;
        seen.lastSeq = Math.max(seen.lastSeq, seq);
      }
    },
    terminal: ({ terminal, offset, bytes }) => {
      if (terminal !== 'main') return;
      if (offset < seen.end) seen.duplicates++;
      else if (offset > seen.end) seen.gaps++;
      seen.end = offset + bytes.length;
      seen.bytes += bytes.length;
      pieces.push(Buffer.from(bytes));
    },
  });
  return Object.assign(seen, {
    close: () => live.close(),
    differ: (log: Uint8Array) => {
      const whole = Buffer.concat(pieces);
      let differing = Math.abs(whole.length - log.length);
      for (let at = 0; at < Math.min(whole.length, log.length); at++)
        if (whole[at] !== log[at]) differing++;
      return differing;
    },
  });
}

/** The numbers in the terminal’s log; throws if there are too few to prove anything. */
function numbersIn(log: Uint8Array): number[] {
  const found = [
    ...Buffer.from(log)
      .toString()
      .matchAll(/<(\d+)>/g),
  ];
  if (found.length < cutsEach) throw new Error(`Only ${found.length} lines were printed.`);
  return found.map(([, number]) => Number(number));
}

const holes = (numbers: number[]) => Math.max(0, (numbers.at(-1) ?? 0) - new Set(numbers).size);
const twice = (numbers: number[]) => numbers.length - new Set(numbers).size;
