import type { Server } from 'node:http';

/**
 * How much longer an idle connection is kept than `Keep-Alive: timeout=5` announces, in milliseconds, so
 * that a busy client still finds it open.
 */
const idleMarginMs = 60_000;
/** A workspace of gigabytes may arrive over a slow network; Node’s default is five minutes. */
const longestRequestMs = 3_600_000;
/**
 * How long a client may continue to send a refused request, so that a client that writes first and reads later gets
 * the response.
 */
const unreadMs = 10_000;

/**
 * Never closes a connection on which a request has arrived. Timers run before sockets are read, so after a stall of
 * the event loop (a large write to the database) Node closes an idle connection with the next request unread in its
 * buffer: the client gets ECONNRESET, and cannot know whether the request has run.
 */
export function keepConnections(
  server: Server,
  { marginMs = idleMarginMs, refusedMs = unreadMs } = {},
): void {
  server.keepAliveTimeoutBuffer = marginMs;
  server.requestTimeout = longestRequestMs;
  server.on('request', (request, response) => {
    response.once('finish', () => {
      if (request.complete) return;
      const timer = setTimeout(() => request.destroy(), refusedMs).unref();
      request.once('close', () => clearTimeout(timer));
    });
  });
  server.on('timeout', (socket) => {
    const read = socket.bytesRead;
    // Sockets are read between timers and immediates.
    setImmediate(() => {
      if (socket.bytesRead === read) socket.destroy();
    });
  });
}
