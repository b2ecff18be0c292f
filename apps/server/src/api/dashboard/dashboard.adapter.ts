import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { errorFrom } from '@belay/protocol';
import type { ServerOptions } from 'socket.io';
import { Encoder } from 'socket.io-parser';
import { z } from 'zod';
import { AuditLog } from '../../access/audit-log.js';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { AddressCheck } from '../auth/address-check.js';
import { Identity } from '../auth/identity.js';
import { maxViewerPacket } from '../limits/request-budget.js';
import { introducedCaller, isPassedOn, ofSessionsAlone } from '../../peers/introduced-caller.js';
import { SocketCounts, type SocketPlace } from '../limits/socket-counts.js';
import { ColdChanges } from '../../storage/cold-changes.js';
import type { DashboardServer } from './dashboard-socket.js';
import { ViewerAccess } from './viewer-access.js';
import { ViewerDecoder } from './viewer-decoder.js';

/** socket.io for the dashboard; Host, Origin and token or cookie are checked before any upgrade. */
export class DashboardAdapter extends IoAdapter {
  readonly #identity: Identity;
  readonly #addresses: AddressCheck;
  readonly #ends: CallerEnds;
  readonly #audit: AuditLog;
  /** Authenticated connections; a browser sends its credentials in its first packet. */
  readonly #ofUser = new WeakSet<object>();
  readonly #counts: SocketCounts;
  readonly #changes: ColdChanges;
  readonly #places = new WeakMap<object, SocketPlace>();

  constructor(app: INestApplicationContext) {
    super(app);
    this.#identity = app.get(Identity);
    this.#addresses = app.get(AddressCheck);
    this.#ends = app.get(CallerEnds);
    this.#audit = app.get(AuditLog);
    this.#counts = app.get(SocketCounts);
    this.#changes = app.get(ColdChanges);
  }

  override createIOServer(port: number, options?: ServerOptions): DashboardServer {
    const server = super.createIOServer(port, {
      ...options,
      // `Upgrades` answers those for other paths.
      destroyUpgrade: false,
      maxHttpBufferSize: 4_000_000,
      parser: { Encoder, Decoder: ViewerDecoder },
      allowRequest: (request: IncomingMessage, answer: Answer) => this.#allow(request, answer),
    } as ServerOptions) as DashboardServer;
    server.engine.on('connection', (raw: RawConnection) => {
      this.#limit(raw);
      this.#count(raw);
    });
    server.use((socket, next) => {
      const { request } = socket;
      const known = this.#identity.caller(request);
      const caller = known ?? this.#callerOfPage(socket.handshake.auth, request.headers);
      if (!caller) return next(new Error('A token is missing or wrong.'));
      try {
        this.#changes.requireCurrent();
        if (!known) this.#places.get(socket.conn)?.admit(caller);
      } catch (error) {
        return next(errorFrom(error));
      }
      const introduced = introducedCaller(request.socket);
      const api = introduced?.api ?? (caller.login === undefined ? 'cli' : 'dashboard');
      const via = { api, address: socket.handshake.address } as const;
      socket.data.access = new ViewerAccess({ ...caller, via }, this.#audit);
      if (caller.scope !== 'view') this.#ofUser.add(socket.conn);
      const off = this.#ends.on(caller, () => socket.disconnect(true));
      socket.conn.once('close', off);
      next();
    });
    return server;
  }

  /**
   * Empties a packet beyond the limit before it is parsed, and closes its connection, unless it is authenticated as a
   * user.
   */
  #limit(raw: RawConnection): void {
    raw.on('packet', (packet) => {
      if ((packet.data?.length ?? 0) <= maxViewerPacket || this.#ofUser.has(raw)) return;
      packet.data = '';
      raw.close();
    });
  }

  /** A page’s caller is known once it has sent its key. */
  #count(raw: RawConnection): void {
    const { request } = raw;
    try {
      const caller = this.#identity.caller(request);
      const place = this.#counts.enter({ caller, address: request.socket.remoteAddress });
      this.#places.set(raw, place);
      raw.once('close', () => place.leave());
    } catch {
      raw.close();
    }
  }

  #callerOfPage(auth: unknown, { cookie }: IncomingHttpHeaders): Caller | undefined {
    const { data } = keyOf.safeParse(auth);
    return data && this.#identity.callerOfLogin(data.key, cookie);
  }

  #allow(request: IncomingMessage, answer: Answer): void {
    const { socket } = request;
    const fault = this.#addresses.fault(request);
    if (fault) answer(fault, false);
    else if (isPassedOn(socket) && !introducedCaller(socket))
      answer(ofSessionsAlone().message, false);
    else if (this.#identity.caller(request) || this.#identity.hasLogin(request.headers))
      answer(null, true);
    else answer('A token is missing or wrong.', false);
  }
}

/** A connection of engine.io, below socket.io. */
interface RawConnection {
  request: IncomingMessage;
  on(event: 'packet', listener: (packet: { data?: string | Buffer }) => void): void;
  once(event: 'close', listener: () => void): void;
  close(): void;
}

/** A browser cannot set headers of a WebSocket, so the page’s key is in the first packet. */
const keyOf = z.object({ key: z.string().max(200) });

type Answer = (error: string | null | undefined, success: boolean) => void;
