import { useSyncExternalStore } from 'react';

/**
 * The current time, updated every `every` milliseconds while `on`. Components with the same
 * interval update together.
 */
export function useNow(every = 1_000, on = true): number {
  const clock = clockOf(every);
  return useSyncExternalStore(on ? clock.listen : silent, clock.now);
}

interface Clock {
  listen(tick: () => void): () => void;
  now(): number;
}

const clocks = new Map<number, Clock>();
const silent = () => () => undefined;

function clockOf(every: number): Clock {
  const known = clocks.get(every);
  if (known) return known;
  const ticks = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let now = Date.now();
  const clock: Clock = {
    listen(tick) {
      ticks.add(tick);
      timer ??= setInterval(() => {
        now = Date.now();
        for (const each of ticks) each();
      }, every);
      return () => {
        ticks.delete(tick);
        if (ticks.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    // Constant between ticks, since React requires a stable snapshot.
    now() {
      if (timer === undefined && Date.now() - now >= every) now = Date.now();
      return now;
    },
  };
  clocks.set(every, clock);
  return clock;
}
