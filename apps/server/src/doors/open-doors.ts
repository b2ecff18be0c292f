import type { IncomingMessage } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Config } from '../config.js';
import { AddressCheck } from './address-check.js';
import { DashboardAdapter } from './dashboard.adapter.js';
import { front } from './front.js';
import { Identity } from './identity.js';

/** Routes that take bytes of any type, JSON too. */
const uploads = /^\/api\/(blobs|workspaces)(\?|$)/;

/** Calls of operations, whose input may hold a file. */
const calls = /^\/api\/sessions\/[^/]+\/operations\//;

/** Puts everything before the routes that every request passes. Create the app with `bodyParser: false`. */
export function openDoors(app: NestExpressApplication): void {
  const config = app.get(Config);
  app.set('etag', false);
  app.disable('x-powered-by');
  const identity = app.get(Identity);
  app.use(front({ config, identity, addresses: app.get(AddressCheck) }));
  // Without a token nothing is read: the guard refuses it.
  const takesJson = ({ url = '', headers }: IncomingMessage): boolean =>
    !uploads.test(url) &&
    /^application\/json\b/i.test(headers['content-type'] ?? '') &&
    identity.role(headers) !== undefined;
  const isCall = ({ url = '' }: IncomingMessage): boolean => calls.test(url);
  for (const { limit, type } of [
    { limit: '80mb', type: (request: IncomingMessage) => takesJson(request) && isCall(request) },
    { limit: '16mb', type: (request: IncomingMessage) => takesJson(request) && !isCall(request) },
  ]) {
    app.useBodyParser('json', { limit, strict: false, type });
  }
  app.useWebSocketAdapter(new DashboardAdapter(app));
}
