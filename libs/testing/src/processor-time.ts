/** Milliseconds of processor time that this thread spends in `run`: what else the machine does adds nothing. */
export function processorMs(run: () => unknown): number {
  const begun = process.threadCpuUsage();
  run();
  return millisecondsSince(begun);
}

/**
 * The same for asynchronous work, with all that this thread does until it is done: a call that waits behind other
 * work has that in its figure.
 */
export async function processorMsUntil(run: () => Promise<unknown>): Promise<number> {
  const begun = process.threadCpuUsage();
  await run();
  return millisecondsSince(begun);
}

/** The most processor time that this thread spends without a look at its timers while `run` works. */
export async function longestStallMs(run: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [process.threadCpuUsage(), 0];
  const look = (): void => {
    longest = Math.max(longest, millisecondsSince(last));
    last = process.threadCpuUsage();
  };
  const timer = setInterval(look, 5);
  try {
    await run();
    look();
  } finally {
    clearInterval(timer);
  }
  return longest;
}

function millisecondsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}
