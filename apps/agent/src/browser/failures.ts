import { AppError } from '@belay/protocol';

export const hung = new AppError(
  'timeout',
  'The page stopped responding and was closed. Open it again, or another one.',
);

export const lost = new AppError(
  'unavailable',
  'The page closed or changed during the call. Read it again to see where the browser is now.',
);

/** Errors of the browser’s own protocol, in words. */
export function friendly(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  if (ofLostPage.test(error.message)) return lost;
  if (error.message.includes('protocolTimeout')) return hung;
  return new AppError(
    'unavailable',
    `The browser could not do this: ${error.message.split('\n')[0]}`,
  );
}

/** Puppeteer says the last two of a page that closes, or crashes, while its next document is awaited. */
const ofLostPage =
  /Target closed|Session closed|crashed|detached|Connection closed|Execution context (?:was destroyed|is not available)/i;
