import type { Page } from 'puppeteer-core';

declare global {
  interface Window {
    longestFrame(): number;
  }
}

/**
 * The longest time between two frames of each page during `work`, in whole milliseconds; a screen’s
 * interval is 16.7.
 */
export async function longestFrames(
  [page, empty]: [Page, Page],
  work: () => Promise<void>,
): Promise<[number, number]> {
  for (const each of [page, empty]) await each.evaluate(watchFrames);
  await work();
  const longest = (each: Page) => each.evaluate(() => window.longestFrame());
  return [await longest(page), await longest(empty)];
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
