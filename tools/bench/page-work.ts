import type { Page } from 'puppeteer-core';

/** One entry of a Chromium trace; `tdur` is processor time in microseconds. */
interface TraceEvent {
  pid: number;
  tid: number;
  name: string;
  tdur?: number;
  args: { name?: string };
}

/** Processor time of a page’s main thread in milliseconds. */
export interface PageWork {
  /** That of the longest task. */
  longest: number;
  /** That of all tasks. */
  total: number;
}

/** In contrast to frame times, waiting for a busy processor does not count. */
export async function pageWork(page: Page, work: () => Promise<void>): Promise<PageWork> {
  await page.tracing.start({ categories: ['-*', 'toplevel'] });
  let trace: Uint8Array | undefined;
  try {
    await work();
  } finally {
    trace = await page.tracing.stop();
  }
  const { traceEvents } = JSON.parse(Buffer.from(trace ?? []).toString()) as {
    traceEvents: TraceEvent[];
  };
  const tasks = traceEvents.filter(threadOf(traceEvents)).map(({ tdur = 0 }) => tdur / 1_000);
  return { longest: Math.max(...tasks), total: tasks.reduce((sum, each) => sum + each, 0) };
}

/** Selects the main thread that did the most work, as Chromium also keeps spare pages ready. */
function threadOf(events: TraceEvent[]): (event: TraceEvent) => boolean {
  const name = (event: TraceEvent) => `${event.pid}/${event.tid}`;
  const main = new Set(
    events
      .filter(({ name: kind, args }) => kind === 'thread_name' && args.name === 'CrRendererMain')
      .map(name),
  );
  const spent = new Map<string, number>();
  for (const event of events)
    if (event.tdur && main.has(name(event)))
      spent.set(name(event), (spent.get(name(event)) ?? 0) + event.tdur);
  const [busiest] = [...spent].sort(([, a], [, b]) => b - a)[0] ?? [];
  return (event) => name(event) === busiest;
}
