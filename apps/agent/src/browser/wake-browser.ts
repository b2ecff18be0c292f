import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@belay/protocol';

/** How long Chromium may take to listen, in ms. */
const startTimeoutMs = 30_000;
const retryDelayMs = 100;
const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;

/**
 * Starts the browser that waits beside this container, unless it runs, by a line in its named pipe; resolves when it
 * listens at its address, a URL. Throws `unavailable` when it does not in time.
 */
export async function wakeBrowser(pipe: string, address: string): Promise<void> {
  const end = Date.now() + startTimeoutMs;
  while (!(await listens(address))) {
    await ask(pipe);
    if (Date.now() > end)
      throw new AppError(
        'unavailable',
        `The browser beside this sandbox did not start within ${startTimeoutMs / 1000} s. Try again, or continue without it.`,
      );
    await delay(retryDelayMs);
  }
}

/** Does nothing while nobody reads there: then it is starting, or has not begun to wait. */
async function ask(pipe: string): Promise<void> {
  try {
    const opened = await open(pipe, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
    try {
      await opened.write('start\n');
    } finally {
      await opened.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENXIO' && code !== 'ENOENT') throw error;
  }
}

function listens(address: string): Promise<boolean> {
  const { hostname: host, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
