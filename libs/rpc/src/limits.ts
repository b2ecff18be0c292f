/**
 * Limits for data from a peer. The server’s peer runs in a sandbox, so each limit is checked before anything else
 * reads a message; honest peers stay far below.
 */
export const limits = {
  /** A frame, and so a message; larger ones fail with `too_large` at the sender. */
  frameBytes: 80 * 2 ** 20,
  /** The head of a frame: its kind, ids, names and the places of its binary values. */
  headBytes: 2 ** 14,
  /** The JSON of a frame from a dialer; a listener sends whole logs. */
  dialerJsonBytes: 32 * 2 ** 20,
  /** An id or a name. */
  nameLength: 100,
  /** Levels and values in the JSON of a frame: schema parsers recurse, and small values take much memory. */
  jsonDepth: 80,
  jsonValues: 1_000_000,
  /** Binary values in a frame, and keys that lead to one. */
  parts: 64,
  pathLength: 32,
  /** An error reported by a peer. */
  errorBytes: 2 ** 16,
  /** Concurrent calls, and the bytes of their inputs; further ones are refused with `limit_reached`. */
  parallelCalls: 1_000,
  inputBytes: 96 * 2 ** 20,
  /** Open streams, and the bytes that wait in all of them; further ones are refused. */
  openStreams: 2_000,
  streamBytes: 96 * 2 ** 20,
  /** Bytes that wait for a dialer that does not acknowledge; beyond it the connection ends. */
  outboxBytes: 192 * 2 ** 20,
  outboxFrames: 100_000,
  /** Reading pauses beyond these rates, so that the rest waits in the kernel. */
  messagesPerSecond: 20_000,
  bytesPerSecond: 256 * 2 ** 20,
  /** New connections on one socket per second; further ones are dropped. */
  connectionsPerSecond: 50,
  /** Connections that are not accepted yet; beyond it the oldest is dropped. */
  waitingConnections: 8,
  /** The time from a connection to its request, and from its acceptance to its first message. */
  helloTimeoutMs: 5_000,
} as const;
