import type { Duplex } from 'node:stream';
import { ClientHellos, NoHello } from './client-hello.js';
import { protocolOf, type Protocol } from './first-bytes.js';

export interface Opening {
  /** Also `other` when the server side sent or ended first, which no web server does. */
  protocol: Protocol;
  /** The client’s bytes so far, not forwarded yet. For HTTP they are pushed back to the stream. */
  head: Buffer;
}

/**
 * Waits for a client’s first bytes: enough to identify the protocol, and for TLS the whole first hello, whose server
 * name `onName` checks. Rejects with the error of `onName`, and when a hello cannot be read.
 */
export function openingOf(
  sandbox: Duplex,
  outside: Duplex,
  onName: (name: string | null) => void,
): Promise<Opening> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let protocol: Protocol | undefined;
    const hellos = new ClientHellos(onName);
    const stop = (): void => {
      sandbox.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
      outside.off('data', onAnswer).off('end', onEnd).off('close', onEnd).pause();
    };
    const decide = (decided: Protocol): void => {
      stop();
      const head = Buffer.concat(chunks);
      // Done synchronously, because nothing can be pushed back to a stream that has ended.
      if (decided === 'http') sandbox.unshift(head);
      resolve({ protocol: decided, head });
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      try {
        // There are few undecided bytes, so joining them again for each chunk is cheap; a hello is read as it arrives.
        protocol ??= protocolOf(Buffer.concat(chunks));
        if (protocol === 'tls') hellos.push(chunk);
        if (size > longestOpening) throw new NoHello();
        if (protocol && (protocol !== 'tls' || hellos.seen)) decide(protocol);
      } catch (error) {
        stop();
        reject(error as Error);
      }
    };
    const onAnswer = (chunk: Buffer): void => {
      decide('other');
      outside.unshift(chunk);
    };
    const onEnd = (): void => decide('other');
    sandbox.on('data', onData).once('end', onEnd).once('close', onEnd);
    outside.on('data', onAnswer).once('end', onEnd).once('close', onEnd);
    outside.resume();
    sandbox.resume();
    if (sandbox.destroyed || outside.destroyed) decide('other');
  });
}

/** The limit for a hello and its record headers, however small the records are, with the rest of the same packet. */
const longestOpening = 2 ** 18;
