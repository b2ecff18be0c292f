import type { IncomingMessage } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Config } from '../config.js';
import { AddressCheck } from './address-check.js';
import { DashboardAdapter } from './dashboard.adapter.js';
import { front } from './front.js';
import { Identity } from './identity.js';

/** Routes that take bytes of any type, JSON too. */
const uploads = /^\/api\/(blobs|workspaces)(\?|$)/;

/** Puts everything before the routes that every request passes. Create the app with `bodyParser: false`. */
export function openDoors(app: NestExpressApplication): void {
  const config = app.get(Config);
  app.set('etag', false);
  app.disable('x-powered-by');
  app.use(front({ config, identity: app.get(Identity), addresses: app.get(AddressCheck) }));
  app.useBodyParser('json', {
    limit: '80mb',
    strict: false,
    type: ({ url, headers }: IncomingMessage) =>
      !uploads.test(url ?? '') && /^application\/json\b/i.test(headers['content-type'] ?? ''),
  });
  app.useWebSocketAdapter(new DashboardAdapter(app));
}
