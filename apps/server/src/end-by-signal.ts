import { endWithCode } from './end-with-code.js';

/**
 * Ends this process as if it did not handle the signal. `process.exit` may wait for ever while functions are still
 * compiled: V8’s thread waits for the main thread, which Node lets wait for that thread (nodejs/node#54918).
 */
export function endBySignal(signal: NodeJS.Signals): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The first process of a container is not ended by such a signal.
  endWithCode(0);
}
