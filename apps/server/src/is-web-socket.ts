import type { IncomingMessage } from 'node:http';

/**
 * Whether a request asks for a WebSocket (RFC 6455). Any other `Upgrade` is ignored, and the request answered as if it
 * had none (RFC 9110, 7.8): Java’s client, for example, offers `h2c` with every request.
 */
export const isWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
