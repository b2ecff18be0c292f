import type { Duplex } from 'node:stream';
import { ClientHellos, NoHello } from './client-hello.js';
import { protocolOf, type Protocol } from './first-bytes.js';

export interface Opening {
  /** `other` as well when the other side spoke or ended first, which no web server does. */
  protocol: Protocol;
  /** What the client sent so far; not sent on yet. For HTTP it is back in the stream. */
  head: Buffer;
}

/**
 * Waits for what a client says first: enough of it to tell the protocol, and the whole first hello of TLS, whose
 * server name `onName` checks. Rejects with what that throws, and when a hello cannot be read.
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
      // In the same turn, because an ended stream takes nothing back later.
      if (decided === 'http') sandbox.unshift(head);
      resolve({ protocol: decided, head });
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      try {
        // Undecided bytes are few, so joining them anew for each chunk stays cheap; a hello is read as it comes.
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

/** A hello and the heads of its records, however small they are, with what came in the same packet. */
const longestOpening = 2 ** 18;
