import type { Page } from 'puppeteer-core';
import { median } from './statistics.ts';

declare global {
  interface Window {
    longestFrame(): number;
  }
}

/** A screen’s interval is 16.7 ms, so one delayed frame of one round would decide the figure. */
export const frameRounds = 3;

/**
 * The longest time between two frames of each page during `work`, in whole milliseconds: the median
 * of some rounds, from 1 on.
 */
export async function longestFrames(
  [page, empty]: [Page, Page],
  work: (round: number) => Promise<void>,
): Promise<[number, number]> {
  const longest = (each: Page) => each.evaluate(() => window.longestFrame());
  const found: [number[], number[]] = [[], []];
  for (let round = 1; round <= frameRounds; round++) {
    for (const each of [page, empty]) await each.evaluate(watchFrames);
    await work(round);
    found[0].push(await longest(page));
    found[1].push(await longest(empty));
  }
  return [median(found[0]), median(found[1])];
}

/** Runs in the page. */
function watchFrames() {
  let longest = 0;
  let last: number | undefined;
  let on = true;
  const next = (now: number) => {
    if (last !== undefined) longest = Math.max(longest, now - last);
    last = now;
    if (on) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
  window.longestFrame = () => {
    on = false;
    return last === undefined ? Infinity : Math.round(longest);
  };
}
