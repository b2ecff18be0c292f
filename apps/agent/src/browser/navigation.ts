import { AppError, ignoreError } from '@belay/protocol';
import { inTime, untilAborted } from '@belay/rpc';
import type { Page } from './chromium.js';
import { friendly } from './failures.js';

/** A full address for one as users type it. Throws `invalid_input`. */
export function addressOf(typed: string): string {
  const text = typed.trim();
  const address = /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text) ? text : `${schemeFor(text)}${text}`;
  const url = URL.parse(address);
  if (!url || !/^(https?|file|data|about):$/.test(url.protocol)) {
    throw new AppError('invalid_input', `${typed} is not an address that the browser can open.`);
  }
  return url.href;
}

/**
 * Describes a page that did not open properly: a note when it can be read all the same; throws
 * `unavailable`, `rejected` or `timeout` when there is nothing to see.
 */
export function openingFailure(address: string, error: unknown, shown: string): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = /net::(ERR_\w+)/.exec(text)?.[1];
  if (code === 'ERR_ABORTED') return `${address} was not shown as a page; it may be a download.`;
  // Chromium does not say whether its host was refused or does not answer; the note of the result does.
  if (code === 'ERR_TUNNEL_CONNECTION_FAILED' || code === 'ERR_PROXY_CONNECTION_FAILED') {
    throw new AppError('rejected', `${address} is not allowed from this sandbox.`);
  }
  if (code) {
    throw new AppError('unavailable', `${address} could not be opened: ${inWords(code)}.`);
  }
  if (/timeout|timed out/i.test(text)) {
    if (shown !== 'about:blank' && !shown.startsWith('chrome-error:')) {
      return `${address} has not finished loading; this is the page so far.`;
    }
    throw new AppError(
      'timeout',
      `${address} did not answer in time. Try again with a longer timeout.`,
    );
  }
  throw new AppError('unavailable', `${address} could not be opened: ${text.split('\n')[0]}`);
}

/** Throws `conflict` when the browser has been to no page in that direction. */
export async function assertHistory(page: Page, to: 'back' | 'forward'): Promise<void> {
  const session = await page.createCDPSession();
  try {
    const { currentIndex, entries } = await session.send('Page.getNavigationHistory');
    if (!entries[currentIndex + (to === 'back' ? -1 : 1)])
      throw new AppError('conflict', `There is no page to go ${to} to. Open one by its address.`);
  } finally {
    await session.detach().catch(ignoreError('the page took its session with it'));
  }
}

/** An aborted action keeps its effect; it is no longer awaited, and the page stops loading. */
export async function untilStopped<T>(
  signal: AbortSignal,
  work: Promise<T>,
  page: Page,
): Promise<T> {
  try {
    return await untilAborted(signal, work);
  } catch (error) {
    if (signal.aborted) await stopLoading(page);
    throw friendly(error);
  }
}

/** Awaited, so that it does not stop the next navigation, but only briefly, because a page may hang. */
export async function stopLoading(page: Page): Promise<void> {
  const stop = async () => {
    const session = await page.createCDPSession();
    await session.send('Page.stopLoading');
    await session.detach();
  };
  const stopped = stop().catch(ignoreError('the page hangs or is gone'));
  await inTime(stopped, 1_000, () => undefined);
}

/** Whether a page that did not load in time still runs. */
export async function responds(page: Page): Promise<boolean> {
  const asked = page.evaluate('1').then(
    () => true,
    () => true,
  );
  return inTime(asked, 2_000, () => false);
}

const schemeFor = (text: string) =>
  /^(localhost|127\.|\[|0\.0\.0\.0|[^/]*:\d)/i.test(text) ? 'http://' : 'https://';

function inWords(code: string): string {
  const known: Record<string, string> = {
    ERR_CONNECTION_REFUSED: 'nothing is listening there (is the server running?)',
    ERR_NAME_NOT_RESOLVED: 'the host does not exist',
    ERR_EMPTY_RESPONSE: 'the server sent no response',
    ERR_CONNECTION_RESET: 'the connection was reset',
    ERR_FILE_NOT_FOUND: 'the file does not exist',
  };
  return known[code] ?? code.toLowerCase().replace(/^err_/, '').replaceAll('_', ' ');
}
