import { Agent, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorFrom } from '@belay/protocol';
import type { LiveServer } from '../storage/live-servers.js';
import { connectToPeer } from './connect-to-peer.js';
import type { PeerIntroduction } from './peer-introduction.js';

/**
 * Sends the requests of an HTTP or WebSocket client to another server, each on a connection of its own with this
 * introduction. A request fails with `unavailable` when that server does not accept it.
 */
export class PeerAgent extends Agent {
  constructor(
    private readonly server: Pick<LiveServer, 'address' | 'key'>,
    private readonly introduction: PeerIntroduction,
  ) {
    super({ keepAlive: false });
  }

  override createConnection(
    _options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    void this.#connect((error, socket) => callback?.(error, socket as Duplex));
  }

  async #connect(done: (error: Error | null, socket?: Duplex) => void): Promise<void> {
    const connected = await connectToPeer(this.server, this.introduction).catch(errorFrom);
    if (connected instanceof Error) done(connected);
    else done(null, connected.resume());
  }
}
