/**
 * Calls `expired` after `ms`, but not before sockets have been read once more; the result cancels it. Timers run
 * before sockets are read, so after a stall of the event loop the awaited bytes may have arrived unread.
 */
export function expireAfterReading(ms: number, expired: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => (immediate = setImmediate(expired)), ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}
