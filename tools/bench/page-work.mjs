/**
 * The most processor time that one task of a page's main thread took during `work`, in milliseconds.
 * A frame also waits while other programs have the processor; this does not count that.
 */
export async function mostWork(page, work) {
  await page.tracing.start({ categories: ['-*', 'toplevel'] });
  let trace;
  try {
    await work();
  } finally {
    trace = await page.tracing.stop();
  }
  const { traceEvents } = JSON.parse(Buffer.from(trace).toString());
  const ofPage = threadOf(traceEvents);
  const tasks = traceEvents.filter((event) => event.tdur && ofPage(event));
  return Math.max(...tasks.map((event) => event.tdur)) / 1_000;
}

/** The main thread of the page that did the most: Chromium keeps spare pages ready. */
function threadOf(events) {
  const name = (event) => `${event.pid}/${event.tid}`;
  const main = new Set(
    events
      .filter(({ name: kind, args }) => kind === 'thread_name' && args.name === 'CrRendererMain')
      .map(name),
  );
  const spent = new Map();
  for (const event of events)
    if (event.tdur && main.has(name(event)))
      spent.set(name(event), (spent.get(name(event)) ?? 0) + event.tdur);
  const [busiest] = [...spent].sort(([, a], [, b]) => b - a)[0] ?? [];
  return (event) => name(event) === busiest;
}
