/** The kinds of message on a wire; see `Link` for their order. */
export type WireKind = 'hello' | 'frame' | 'ack' | 'bye';

export interface WireListener {
  message(kind: string, args: readonly unknown[]): void;
  /** Called once; nothing arrives afterwards. */
  closed(): void;
}

/** One connection, from its opening to its end: ordered, not resumed. A break makes a new wire necessary. */
export interface Wire {
  /** Does nothing once the wire is closed. */
  send(kind: WireKind, ...args: unknown[]): void;
  listen(listener: WireListener): void;
  close(): void;
}

/** What socket.io's two ends have in common, as far as a wire needs it. */
export interface SocketLike {
  readonly connected: boolean;
  emit(kind: string, ...args: unknown[]): unknown;
  onAny(listener: (kind: string, ...args: unknown[]) => void): unknown;
  offAny(): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** A socket of socket.io as a wire, for as long as it stays connected. `hangUp` closes the connection. */
export function socketWire(socket: SocketLike, hangUp: () => void): Wire {
  let open = true;
  let closed = () => {};
  socket.once('disconnect', () => {
    open = false;
    socket.offAny();
    closed();
  });
  return {
    // A socket of socket.io keeps what is sent while it is down; the link does that itself.
    send: (kind, ...args) => {
      if (open && socket.connected) socket.emit(kind, ...args);
    },
    listen(listener) {
      closed = () => listener.closed();
      socket.onAny((kind, ...args) => listener.message(kind, args));
    },
    close: hangUp,
  };
}
