import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { allRoutes, errorFrom, routeName } from '@belay/protocol';
import type { NextFunction, Request, Response } from 'express';
import { AuditLog } from '../../access/audit-log.js';
import { noSuchSession, sees, type Caller } from '../../access/caller.js';
import { introducedCaller, isPassedOn, ofSessionsAlone } from '../../peers/introduced-caller.js';
import { PeerWatch } from '../../peers/peer-watch.js';
import { SessionServers } from '../../peers/session-servers.js';
import { refuseOnSocket } from '../../refuse-on-socket.js';
import type { LiveServer } from '../../storage/live-servers.js';
import { apiOf } from '../auth/access.guard.js';
import { Identity } from '../auth/identity.js';
import { peerCommandsPath } from '../commands/commands-elsewhere.js';
import { PreviewAddress } from '../preview/preview-address.js';
import { PreviewServer } from '../preview/preview-server.js';
import { sentError } from '../problem.js';
import { routesAt } from '../routes-at.js';
import { knownCaller } from './known-caller.js';
import { passRequest, passUpgrade } from './pass-request.js';

interface Passing {
  response: Response;
  /** For what continues here. */
  next: () => void;
  /** Called if no response has begun. */
  fail: (error: unknown) => void;
  /** Called if the session’s server ends the response early. */
  cut?: (error: unknown) => void;
}

/** Passes requests about one session, and those of its previews, on to the server that works on it. */
@Injectable()
export class SessionRelay {
  readonly #logger = new Logger('Peers');

  constructor(
    private readonly servers: SessionServers,
    private readonly watch: PeerWatch,
    private readonly identity: Identity,
    private readonly audit: AuditLog,
    private readonly addresses: PreviewAddress,
    private readonly previews: PreviewServer,
  ) {}

  /** Of a session by its path: its server authenticates the caller anew. Anything else continues here. */
  take(request: Request, response: Response, next: NextFunction): void {
    const session = sessionAt(request.path);
    const { socket } = request;
    if (introducedCaller(socket))
      return next(request.path === peerCommandsPath ? undefined : ofSessionsAlone());
    if (session === undefined) return next(isPassedOn(socket) ? ofSessionsAlone() : undefined);
    if (isPassedOn(socket)) {
      const known = knownCaller(this.identity, request);
      known.then(() => this.#pass(session, request, { response, next, fail: next }), next);
      return;
    }
    const caller = this.identity.caller(request);
    // Strangers are refused here. Neither they nor those who do not see the session learn whether it exists.
    if (!caller) return next();
    const cut = (error: unknown): void =>
      this.#recordFailure(request, { caller, session, outcome: errorFrom(error).code });
    const fail = (error: unknown): void => {
      const told = sees(caller, session) ? error : noSuchSession(session);
      cut(told);
      next(told);
    };
    this.#pass(session, request, { response, next, fail, cut });
  }

  /** Of a preview by its host name: its server knows who may see it. Anything else continues here. */
  takePreview(request: Request, response: Response, next: NextFunction): void {
    const target = this.addresses.find(request.headers.host);
    if (!target) return next();
    const fail = (error: unknown): void => this.previews.fail(request, response, { error });
    this.#pass(target.session, request, { response, next, fail });
  }

  /** Like `takePreview`, for an upgrade; calls `next` for anything that continues here. */
  takePreviewUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    { head, next }: { head: Buffer; next: () => void },
  ): void {
    const target = this.addresses.find(request.headers.host);
    if (!target) return next();
    const refuse = (error: unknown): void => refuseOnSocket(socket, sentError(error, this.#logger));
    const onError = (): void => void socket.destroy();
    socket.on('error', onError);
    const work = async (): Promise<void> => {
      const owner = await this.#serverOf(target.session, request);
      if (socket.destroyed) return;
      if (owner) {
        this.watch.add(owner.id, socket);
        return passUpgrade(request, socket, { owner, head, onFailed: refuse });
      }
      socket.off('error', onError);
      next();
    };
    work().catch(refuse);
  }

  /** Of a request that its session’s server did not answer, or not to the end: it has the entries of all others. */
  #recordFailure(
    request: Request,
    what: { caller: Caller; session: string; outcome: string },
  ): void {
    const { path, method, socket } = request;
    const route = routesAt(path, allRoutes).find((one) => one.method === method);
    if (!route || route.unaudited) return;
    const api = apiOf(request, route, what.caller);
    this.audit.record({ ...what, action: routeName(route), api, address: socket.remoteAddress });
  }

  #pass(session: string, request: Request, { response, next, fail, cut }: Passing): void {
    const work = async (): Promise<void> => {
      const owner = await this.#serverOf(session, request);
      if (response.destroyed) return;
      if (!owner) return next();
      this.watch.add(
        owner.id,
        passRequest(request, response, { owner, onFailed: fail, onCut: cut }),
      );
    };
    work().catch(fail);
  }

  /** Undefined for this server. What another one has passed on is never passed on again: throws `unavailable` then. */
  async #serverOf(session: string, { socket }: IncomingMessage): Promise<LiveServer | undefined> {
    if (!isPassedOn(socket)) return this.servers.other(session);
    await this.servers.assertOwn(session);
    return undefined;
  }
}

/** The session that a path is about, as the router reads it; undefined for other paths. */
function sessionAt(path: string): string | undefined {
  const part = /^\/api\/sessions\/([^/]+)(?:\/|$)/.exec(path)?.[1] ?? '';
  const session = decoded(part);
  return /^[\w-]{1,200}$/.test(session) && session !== 'import' ? session : undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return ''; // The router refuses it.
  }
}
