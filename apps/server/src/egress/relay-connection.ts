import type { Duplex } from 'node:stream';
import { ClientHellos } from './client-hello.js';
import { FirstLine } from './first-bytes.js';
import { openingOf, type Opening } from './opening.js';
import { relayHttp } from './plain-http.js';
import type { EgressTarget, Permission } from './policy.js';
import { streamsClosed, endSoon, pump } from './pump.js';
import { Tap } from './tap.js';

export interface Transferred {
  sent: number;
  received: number;
  /** Why the connection was closed by a refusal, as a sentence. */
  refusal: string | null;
}

export interface RelayedConnection {
  target: EgressTarget;
  permission: Permission;
  gate: () => Promise<void> | undefined;
  /** Called before the sandbox notices. */
  onRefused?(sentence: string): void;
}

/**
 * Relays an allowed connection until both sides have ended. Its visible names must match the requested host: the
 * server name of TLS, the Host of plain HTTP. Never rejects.
 */
export async function relayConnection(
  sandbox: Duplex,
  outside: Duplex,
  { target, permission, gate, onRefused }: RelayedConnection,
): Promise<Transferred> {
  const seen = { refusal: null as string | null };
  const refuse = (sentence: string): void => {
    if (seen.refusal === null) onRefused?.(sentence);
    seen.refusal ??= sentence;
  };
  const checkName = (name: string | null): void => checkServerName(name, target);
  const end = async (lastBytes?: Buffer): Promise<Transferred> => {
    outside.destroy();
    sandbox.end(lastBytes);
    endSoon(sandbox);
    await streamsClosed(sandbox, outside);
    return { sent: 0, received: 0, refusal: seen.refusal };
  };
  for (const stream of [sandbox, outside]) stream.on('error', () => stream.destroy());
  let opening: Opening;
  try {
    opening = await openingOf(sandbox, outside, checkName);
  } catch (error) {
    refuse(sentenceOf(error, target));
    return end(unrecognizedName);
  }
  if (permission === 'read-only' && opening.protocol !== 'http') {
    refuse(
      `${target.host} is allowed as read-only, which can be enforced only for plain HTTP: use http://, or allow it without read-only.`,
    );
    return end(opening.protocol === 'tls' ? unrecognizedName : undefined);
  }
  if (sandbox.destroyed) outside.destroy();
  const { protocol, head } = opening;
  const inspect = protocol === 'http' ? () => {} : inspector(checkName);
  const tap = new Tap(outside, {
    gate,
    inspect: (chunk) => {
      try {
        inspect(chunk);
      } catch (error) {
        refuse(sentenceOf(error, target));
        throw error;
      }
    },
  });
  if (protocol === 'http') {
    const closed = streamsClosed(sandbox, tap);
    relayHttp(sandbox, tap, { target, readsOnly: permission !== 'any', onRefused: refuse });
    await closed;
  } else await pump(sandbox, tap, head);
  return { sent: tap.sent, received: tap.received, refusal: seen.refusal };
}

/** Inspects outgoing bytes: a later TLS hello, and an HTTP request in a connection that did not start as one. */
function inspector(checkName: (name: string | null) => void): (chunk: Buffer) => void {
  let check: ClientHellos | FirstLine | undefined;
  return (chunk) => {
    check ??= chunk[0] === 0x16 ? new ClientHellos(checkName) : new FirstLine();
    check.push(chunk);
  };
}

function checkServerName(name: string | null, { host, port }: EgressTarget): void {
  const isAddress = /^[\d.]+$|:/.test(host);
  if (name === null && isAddress) return;
  if (name === null)
    throw new Refusal(
      `The TLS connection to ${host}:${port} names no server, so it cannot be checked: use a client that sends the name (SNI).`,
    );
  if (name.toLowerCase().replace(/\.$/, '') === host) return;
  const other = /^[\w.-]{1,253}$/.test(name) ? name : 'another name';
  throw new Refusal(
    `The TLS connection to ${host}:${port} is for ${other}: it may only name the host that was allowed.`,
  );
}

class Refusal extends Error {}

const sentenceOf = (error: unknown, { host, port }: EgressTarget): string =>
  error instanceof Refusal
    ? error.message
    : `The data sent to ${host}:${port} is neither TLS nor HTTP/1.1 that can be checked.`;

/** A fatal alert of TLS (RFC 6066, 3), which clients report by its name. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);
