import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, NextFunction, Request, Response, RouterOptions } from 'express';
import { AuditLog } from '../access/audit-log.js';
import { UsersStore } from '../access/users.store.js';
import { Config } from '../config.js';
import { keepConnections } from '../keep-connections.js';
import { AgentListener } from '../sandboxes/connection/agent-listener.js';
import { AcpApi } from './acp/acp-api.js';
import { ColdChanges } from '../storage/cold-changes.js';
import { answerUnreadable } from './answer-unreadable.js';
import { AddressCheck } from './auth/address-check.js';
import { SessionCommands } from './commands/session-commands.js';
import { jsonBodies } from './json-bodies.js';
import { DashboardAdapter } from './dashboard/dashboard.adapter.js';
import { middleware } from './middleware.js';
import { peerCommands } from './passing-on/peer-commands.js';
import { SessionRelay } from './passing-on/session-relay.js';
import { PreviewAddress } from './preview/preview-address.js';
import { PreviewServer } from './preview/preview-server.js';
import { Upgrades } from './upgrades.js';
import { WebSocketApi } from './websocket/web-socket-api.js';
import { Identity } from './auth/identity.js';
import { Logins } from './auth/logins.js';
import { PasswordCheck } from './auth/password-check.js';

/** Installs the middleware of all routes. The app must be created with `bodyParser: false`. */
export function setUpHttp(app: NestExpressApplication): void {
  const config = app.get(Config);
  keepConnections(app.getHttpServer());
  answerUnreadable(app.getHttpServer());
  const { router } = app.getHttpAdapter().getInstance() as Express & { router: RouterOptions };
  // The middleware compares paths exactly, so the router must not find a route by another spelling.
  router.caseSensitive = true;
  app.set('etag', false);
  app.disable('x-powered-by');
  const previews = app.get(PreviewServer);
  const relay = app.get(SessionRelay);
  app.use(relay.takePreview.bind(relay));
  app.use((request: Request, response: Response, next: NextFunction) => {
    if (!previews.take(request, response)) next();
  });
  const identity = app.get(Identity);
  const logins = app.get(Logins);
  const users = app.get(UsersStore);
  const passwords = app.get(PasswordCheck);
  const audit = app.get(AuditLog);
  const addresses = app.get(AddressCheck);
  const frames = app.get(PreviewAddress);
  app.use(middleware({ config, identity, logins, users, passwords, audit, addresses, frames }));
  app.use(relay.take.bind(relay));
  const commands = app.get(SessionCommands);
  app.use(peerCommands({ identity, commands, changes: app.get(ColdChanges) }));
  app.use(jsonBodies(identity));
  app.useWebSocketAdapter(new DashboardAdapter(app));
  const sockets = [app.get(WebSocketApi), app.get(AcpApi), app.get(AgentListener)];
  app.get(Upgrades).serve(app.getHttpServer(), sockets);
  divertUpgrades(app.getHttpServer(), previews, relay);
}

/** Every listener gets every upgrade, so those of previews are handled before the others. */
function divertUpgrades(server: Server, previews: PreviewServer, relay: SessionRelay): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...more: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...more: unknown[]): boolean => {
    if (event !== 'upgrade') return emit(event, ...more);
    const [request, socket, head] = more as [IncomingMessage, Duplex, Buffer];
    const next = (): unknown => previews.takeUpgrade(request, socket, head) || emit(event, ...more);
    relay.takePreviewUpgrade(request, socket, { head, next });
    return true;
  };
}
