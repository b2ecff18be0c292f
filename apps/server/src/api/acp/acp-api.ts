import { Injectable, Logger } from '@nestjs/common';
import type { AnyMessage } from '@agentclientprotocol/sdk';
import type { Caller } from '../../access/caller.js';
import type { ApiSocket } from '../api-socket.js';
import { parseJson } from '../json-bodies.js';
import type { SocketApi } from '../upgrades.js';
import { AcpServices } from './acp-services.js';

/** ACP at `/acp`: each socket message is one JSON-RPC message. */
@Injectable()
export class AcpApi implements SocketApi {
  readonly path = '/acp';
  readonly api = 'acp';
  readonly mayIntroduceItself = false;
  readonly #logger = new Logger(AcpApi.name);

  constructor(private readonly services: AcpServices) {}

  accept(socket: ApiSocket): void {
    const { caller } = socket;
    if (!caller) return void socket.terminate();
    this.#serve(socket, caller).catch((error: unknown) => {
      this.#logger.error(error);
      void socket.terminate();
    });
  }

  async #serve(socket: ApiSocket, caller: Caller): Promise<void> {
    let incoming!: ReadableStreamDefaultController<AnyMessage>;
    const readable = new ReadableStream<AnyMessage>({ start: (own) => void (incoming = own) });
    socket.onMessage((data, isBinary) => {
      if (!socket.takeRequest()) return socket.close('tooManyRequests', 'Too many requests.');
      try {
        if (isBinary) throw new TypeError('JSON-RPC is text');
        incoming.enqueue(parseJson(data) as AnyMessage);
      } catch {
        socket.close('invalid', 'Send one JSON-RPC message per frame, as text.');
      }
    });
    // A slow editor is waited for; its events stay in the log meanwhile.
    const writable = new WritableStream<AnyMessage>({ write: (message) => socket.send(message) });
    // The SDK is loaded with the first editor.
    const { AcpConnection } = await import('./acp-connection.js');
    const connection = new AcpConnection({ readable, writable }, caller, this.services);
    if (socket.closing.aborted) connection.close();
    else socket.closing.addEventListener('abort', () => connection.close(), { once: true });
  }
}
