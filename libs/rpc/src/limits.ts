/**
 * What one endpoint takes from its peer. The peer of a server runs in a sandbox: each of these holds before anything
 * else reads a message, and honest peers stay far below.
 */
export const limits = {
  /** Of a frame, and so of a message: a sender gets `too_large` for more. */
  frameBytes: 80 * 2 ** 20,
  /** Of the head of a frame: its kind, ids, names and where its binary values are. */
  headBytes: 2 ** 14,
  /** Of the JSON of a frame that a dialer sends; a listener sends whole logs. */
  dialerJsonBytes: 32 * 2 ** 20,
  /** Of an id or a name. */
  nameLength: 100,
  /** Levels and values of the JSON of a frame: parsers of schemas recurse, and small values take much memory. */
  jsonDepth: 80,
  jsonValues: 1_000_000,
  /** Binary values of a frame, and the keys that lead to one. */
  parts: 64,
  pathLength: 32,
  /** Of an error that a peer reports. */
  errorBytes: 2 ** 16,
  /** Calls that run at once, and the bytes of their inputs; further ones are refused with `limit_reached`. */
  parallelCalls: 1_000,
  inputBytes: 96 * 2 ** 20,
  /** Streams that are open at once, and the bytes that wait in all of them; further ones are refused. */
  openStreams: 2_000,
  streamBytes: 96 * 2 ** 20,
  /** What waits for a dialer that does not acknowledge; beyond it the connection ends. */
  outboxBytes: 192 * 2 ** 20,
  outboxFrames: 100_000,
  /** Reading pauses beyond these, so that the rest waits in the kernel. */
  messagesPerSecond: 20_000,
  bytesPerSecond: 256 * 2 ** 20,
  /** New connections of one socket; those of a second are dropped beyond it. */
  connectionsPerSecond: 50,
  /** Connections that are not accepted yet: the oldest one goes first. */
  waitingConnections: 8,
  /** From a connection to its request, and from its acceptance to its first message. */
  helloTimeoutMs: 5_000,
} as const;
