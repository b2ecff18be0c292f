import type { Page } from 'puppeteer-core';

/**
 * From now on, the page is visited and reloaded as by a browser with windows: again, if a network interface of the
 * machine, such as that of a container, appeared or went meanwhile.
 */
export function repeatVisits(page: Pick<Page, 'goto' | 'reload'>): void {
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)];
  page.goto = (...given) => untilVisited(() => goto(...given));
  page.reload = (...given) => untilVisited(() => reload(...given));
}

async function untilVisited<T>(visit: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await visit();
    } catch (error) {
      if (!/ERR_NETWORK_CHANGED/.test(String(error))) throw error;
    }
  }
}
