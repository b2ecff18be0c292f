import type { Duplex } from 'node:stream';

export interface EgressProxy {
  port: number;
  close(): Promise<void>;
}

export interface EgressProxyOptions {
  /** Opens a connection out of the sandbox; rejects with `AppError` when it is refused or fails. */
  open(host: string, port: number): Promise<Duplex>;
}

/** An HTTP proxy on 127.0.0.1: CONNECT and plain requests, each over a connection of its own. */
export async function startEgressProxy(_options: EgressProxyOptions): Promise<EgressProxy> {
  throw new Error('Not there yet.');
}
