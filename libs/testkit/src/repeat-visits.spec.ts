import type { Page } from 'puppeteer-core';
import { repeatVisits } from './repeat-visits.js';

describe('visits of a page', () => {
  /** A page whose visits and reloads fail with these errors, one after the other. */
  const pageWith = (...errors: string[]) => {
    const tried: string[] = [];
    const visit = (what: string) => {
      tried.push(what);
      const error = errors.shift();
      return error ? Promise.reject(new Error(error)) : Promise.resolve(null);
    };
    const page: Pick<Page, 'goto' | 'reload'> = {
      goto: (url) => visit(`goto ${url}`),
      reload: () => visit('reload'),
    };
    repeatVisits(page);
    return { page, tried };
  };
  const changed = 'net::ERR_NETWORK_CHANGED at http://127.0.0.1/';

  it('are repeated when a network interface of the machine came or went', async () => {
    const { page, tried } = pageWith(changed, changed);
    await page.goto('http://127.0.0.1/');
    expect(tried).toEqual(Array.from({ length: 3 }, () => 'goto http://127.0.0.1/'));
    const reloaded = pageWith(changed);
    await reloaded.page.reload();
    expect(reloaded.tried).toEqual(['reload', 'reload']);
  });

  it('fail with any other error', async () => {
    const refused = 'net::ERR_CONNECTION_REFUSED at http://127.0.0.1/';
    const { page, tried } = pageWith(refused);
    await expect(page.goto('http://127.0.0.1/')).rejects.toThrow(refused);
    expect(tried).toHaveLength(1);
  });
});
