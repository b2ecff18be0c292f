import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { ConnectionRelay } from '../peers/connection-relay.js';
import { PeerPort } from '../peers/peer-port.js';
import type { LeaseHolder } from '../peers/server-rows.js';

type RelayOptions =
  ConstructorParameters<typeof ConnectionRelay> extends [unknown, ...infer More] ? More : never;

/** A played server with its peer port, and one that stands by and passes connections on to it. */
export class RelayedServer {
  http!: Server;
  port!: PeerPort;
  relay!: ConnectionRelay;
  /** That of the one that stands by. */
  url!: string;
  holder: LeaseHolder | undefined;

  async open(answer: RequestListener, ...options: RelayOptions): Promise<void> {
    this.http = createServer(answer);
    await once(this.http.listen(0, '127.0.0.1'), 'listening');
    this.port = await PeerPort.open({ host: '127.0.0.1' }, '127.0.0.1:0');
    const { address, key } = this.port;
    this.holder = { id: 'first', address, files: 'f', version: '1', key, isAlive: true };
    this.relay = new ConnectionRelay(() => this.holder, ...options);
    await this.relay.listen(0, '127.0.0.1');
    this.url = `http://127.0.0.1:${this.relay.port}`;
  }

  /** Begins to serve what is passed on. */
  serve(): void {
    this.port.serve(this.http);
  }

  close(): void {
    this.relay.stop();
    this.relay.keepOnly(undefined);
    this.port.close();
    this.http.closeAllConnections();
    this.http.close();
  }
}
