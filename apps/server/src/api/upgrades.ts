import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError, dashboardPath, type ApiName } from '@belay/protocol';
import { WebSocketServer } from 'ws';
import { may, type Caller } from '../access/caller.js';
import { CallerEnds } from '../access/caller-ends.js';
import { isWebSocket } from '../is-web-socket.js';
import { isPassedOn, ofSessionsAlone } from '../peers/introduced-caller.js';
import { ColdChanges } from '../storage/cold-changes.js';
import { ApiSocket } from './api-socket.js';
import { AddressCheck } from './auth/address-check.js';
import { Identity } from './auth/identity.js';
import { SocketCounts } from './limits/socket-counts.js';
import { refuseOnSocket } from '../refuse-on-socket.js';

/** Serves the sockets of one path. */
export interface SocketApi {
  readonly path: string;
  readonly api: ApiName;
  /** Whether a client may connect first and send its token in its first message. */
  readonly mayIntroduceItself: boolean;
  accept(socket: ApiSocket): void;
}

/** Handles all upgrades of one path, including authentication; Host and Origin are checked before. */
export interface RawUpgrades {
  readonly path: string;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

interface Origin {
  api: ApiName;
  request: IncomingMessage;
}

/** The largest message of a caller that may act: a file of a few megabytes as base64. */
const maxBytes = 8 * 2 ** 20;
/** For viewers, and for clients that are not authenticated when they connect, as long as they stay connected. */
const maxBytesOfOthers = 64 * 1024;
const pingMs = 30_000;
/** Prefix of the token in a subprotocol, because a browser can set no other header of an upgrade. */
const tokenProtocol = 'token.';

/** The upgrades to plain WebSockets: Host, Origin, token and limits are checked before any handshake. */
@Injectable()
export class Upgrades implements BeforeApplicationShutdown {
  readonly #sockets = new Set<ApiSocket>();
  readonly #large = serverWith(maxBytes);
  readonly #small = serverWith(maxBytesOfOthers);
  #pings: NodeJS.Timeout | undefined;
  #apis: readonly (SocketApi | RawUpgrades)[] = [];

  constructor(
    private readonly addresses: AddressCheck,
    private readonly identity: Identity,
    private readonly ends: CallerEnds,
    private readonly counts: SocketCounts,
    private readonly changes: ColdChanges,
  ) {}

  /** The paths that accept upgrades, except the dashboard’s. */
  get paths(): string[] {
    return this.#apis.map(({ path }) => path);
  }

  serve(server: Server, apis: readonly (SocketApi | RawUpgrades)[]): void {
    this.#apis = apis;
    // Nest creates the server without options; this one is read at each request.
    Object.assign(server, { shouldUpgradeCallback: isWebSocket } satisfies ServerOptions);
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (request.url?.startsWith(`${dashboardPath}/`)) return;
      socket.on('error', () => socket.destroy());
      try {
        const api = this.#apiAt(request);
        if ('upgrade' in api) api.upgrade(request, socket, head);
        else this.#upgrade(api, { request, socket, head });
      } catch (error) {
        refuseOnSocket(
          socket,
          error instanceof AppError ? error : new AppError('internal', 'It failed.'),
        );
      }
    });
    this.#pings = setInterval(() => {
      for (const socket of this.#sockets) socket.ping();
    }, pingMs).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#pings);
    await Promise.all([...this.#sockets].map((socket) => socket.terminate()));
  }

  #apiAt(request: IncomingMessage): SocketApi | RawUpgrades {
    const { url = '' } = request;
    if (isPassedOn(request.socket)) throw ofSessionsAlone();
    const fault = this.addresses.fault(request);
    if (fault) throw new AppError('forbidden', fault);
    this.changes.requireCurrent();
    const [path = '', query] = url.split('?', 2);
    const api = this.#apis.find((one) => one.path === path);
    if (!api) {
      const known = this.paths.join(', ');
      throw new AppError('not_found', `There is no WebSocket at ${path}. Use one of ${known}.`);
    }
    if (query !== undefined) {
      throw new AppError(
        'invalid_input',
        'This address takes no query: a token belongs in a header.',
      );
    }
    return api;
  }

  #upgrade(
    api: SocketApi,
    { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
  ): void {
    const from = { api: api.api, request };
    const token = tokenOf(request);
    const caller = token === undefined ? undefined : this.#callerOf(token, from);
    if (!caller && (token !== undefined || !api.mayIntroduceItself)) {
      throw new AppError('unauthorized', 'Send a token of this server as Authorization: Bearer.');
    }
    const place = this.counts.enter({ caller, address: request.socket.remoteAddress });
    // A handshake that fails closes the socket as well.
    socket.once('close', () => place.leave());
    const server = may(caller, 'operate') ? this.#large : this.#small;
    server.handleUpgrade(request, socket, head, (opened) => {
      const introduced = (given: string): Caller | undefined => {
        const known = this.#callerOf(given, from);
        if (known) place.admit(known);
        return known;
      };
      const made = new ApiSocket(opened, this.ends, introduced);
      this.#sockets.add(made);
      opened.once('close', () => this.#sockets.delete(made));
      if (caller) made.admit(caller);
      api.accept(made);
    });
  }

  #callerOf(token: string, { api, request }: Origin): Caller | undefined {
    const { headers, socket } = request;
    const authorization = `Bearer ${token}`;
    const caller = this.identity.caller({ headers: { ...headers, authorization }, socket });
    return caller && { ...caller, via: { api, address: socket.remoteAddress } };
  }
}

const serverWith = (maxPayload: number): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    maxPayload,
    clientTracking: false,
    perMessageDeflate: false,
    handleProtocols: (offered) =>
      [...offered].find((name) => !name.startsWith(tokenProtocol)) ?? false,
  });

/** The token from a header or a subprotocol; never from the address, which others can see. */
function tokenOf({ headers }: IncomingMessage): string | undefined {
  if (headers.authorization !== undefined) {
    return /^Bearer (\S+)$/i.exec(headers.authorization)?.[1] ?? '';
  }
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return offered.find((name) => name.startsWith(tokenProtocol))?.slice(tokenProtocol.length);
}
