import { timingSafeEqual } from 'node:crypto';
import type { Server as HttpServer } from 'node:http';
import { AppError, errorFrom, type Contract } from '@belay/protocol';
import type { Socket } from 'socket.io';
import { z } from 'zod';
import { ropePath } from './dial.js';
import { frameLimit } from './frame.js';
import type { Rope } from './rope.js';
import { RopeEnd, type Ends } from './rope-end.js';
import { socketWire } from './wire.js';

export interface RopeServerOptions<S extends Contract, C extends Contract> extends Ends<S, C> {
  /** Listens on a Unix socket of one sandbox, or has other doors too. */
  server: HttpServer;
  path?: string;
  /**
   * Called once for each agent, not for its reconnects. Serve and accept before it returns. Must not throw:
   * `authorize` refuses.
   */
  onRope(rope: Rope<S, C>, caller: { id: string; token: string | undefined }): void;
  /** Decides on an agent that is not known yet; throws `AppError` to refuse. Everybody may come when left out. */
  authorize?(caller: { id: string; token: string | undefined }): Promise<void>;
  /** How long a rope without a connection is kept, in milliseconds; for ever when left out. */
  patience?: number;
}

export interface RopeServer {
  /**
   * Hangs up without a word: the agents keep dialling. Pending calls fail with `reason`, `unavailable` when left
   * out. Does not close the http.Server.
   */
  close(reason?: AppError): void;
}

const auth = z.object({ id: z.string().min(16).max(100), token: z.string().max(500).optional() });

/** A busy peer may be late by so many milliseconds before it counts as gone; a closed socket is noticed at once. */
const pings = { pingInterval: 25_000, pingTimeout: 120_000 };

const hungUp = new AppError('unavailable', 'The server hangs up.');

interface Held<S extends Contract, C extends Contract> {
  end: RopeEnd<S, C>;
  token: string | undefined;
  forget?: NodeJS.Timeout;
}

/**
 * Takes the ropes that agents dial: one `Rope` for each agent, over all its reconnects. An agent is known by the
 * id in its handshake, which it made up and nobody else knows, and by its token where there is one.
 */
export async function ropeServer<S extends Contract, C extends Contract>(
  options: RopeServerOptions<S, C>,
): Promise<RopeServer> {
  // Loaded when it is needed: an agent has this file in its bundle too, and starts without it.
  const { Server } = await import('socket.io');
  const held = new Map<string, Held<S, C>>();
  const io = new Server(options.server, {
    path: options.path ?? ropePath,
    transports: ['websocket'],
    serveClient: false,
    destroyUpgrade: false,
    maxHttpBufferSize: frameLimit + 2 ** 20,
    // Agents are no browsers: a page that dials a rope is refused.
    allowRequest: (request, answer) => answer(null, request.headers.origin === undefined),
    ...pings,
  });
  io.use((socket, answer) => {
    void refusal(admit(socket, held, options)).then(answer);
  });
  io.on('connection', (socket) => connect(socket, held, options));
  return {
    close(reason = hungUp) {
      for (const { end } of held.values()) end.end(reason);
      io.disconnectSockets(true);
      io.engine.close();
    },
  };
}

async function admit<S extends Contract, C extends Contract>(
  socket: Socket,
  held: Map<string, Held<S, C>>,
  options: RopeServerOptions<S, C>,
): Promise<void> {
  const caller = callerOf(socket);
  const known = held.get(caller.id);
  if (known) {
    if (!same(known.token, caller.token)) throw new AppError('unauthorized', 'Another token.');
  } else await options.authorize?.(caller);
}

function connect<S extends Contract, C extends Contract>(
  socket: Socket,
  held: Map<string, Held<S, C>>,
  options: RopeServerOptions<S, C>,
): void {
  const caller = callerOf(socket);
  const known = held.get(caller.id);
  const rope = known ?? welcome(caller, held, options);
  clearTimeout(rope.forget);
  rope.end.attach(socketWire(socket, () => socket.disconnect(true)));
}

function welcome<S extends Contract, C extends Contract>(
  caller: { id: string; token: string | undefined },
  held: Map<string, Held<S, C>>,
  options: RopeServerOptions<S, C>,
): Held<S, C> {
  const rope: Held<S, C> = { end: new RopeEnd(options, 'dialled'), token: caller.token };
  held.set(caller.id, rope);
  rope.end.on('closed', () => {
    clearTimeout(rope.forget);
    held.delete(caller.id);
  });
  rope.end.on('disconnected', () => {
    if (options.patience === undefined || rope.end.closed) return;
    rope.forget = setTimeout(
      () => rope.end.end(new AppError('unavailable', 'The agent did not come back.')),
      options.patience,
    ).unref();
  });
  options.onRope(rope.end, caller);
  return rope;
}

function callerOf(socket: Socket): { id: string; token: string | undefined } {
  const caller = auth.safeParse(socket.handshake.auth);
  if (!caller.success) throw new AppError('invalid_input', 'A rope is dialled with an id.');
  return { id: caller.data.id, token: caller.data.token };
}

function same(a: string | undefined, b: string | undefined): boolean {
  const [left, right] = [Buffer.from(a ?? ''), Buffer.from(b ?? '')];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Nothing when the decision is to admit, else why not. */
async function refusal(decision: Promise<void>): Promise<Error | undefined> {
  try {
    await decision;
    return undefined;
  } catch (error) {
    const reason = errorFrom(error);
    return Object.assign(new Error(reason.message), { data: reason.toJSON() });
  }
}
