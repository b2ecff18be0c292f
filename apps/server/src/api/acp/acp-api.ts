import { Injectable, Logger } from '@nestjs/common';
import type { AnyMessage } from '@agentclientprotocol/sdk';
import { roleOfScope } from '@belay/protocol';
import type { WebSocket } from 'ws';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { parseJson } from '../json-bodies.js';
import { RequestBudget } from '../limits/request-budget.js';
import { closeCodes, type SocketApi } from '../upgrades.js';
import { AcpServices } from './acp-services.js';

/** ACP at `/acp`: each message of the socket is one of JSON-RPC. */
@Injectable()
export class AcpApi implements SocketApi {
  readonly path = '/acp';
  readonly api = 'acp';
  readonly mayIntroduceItself = false;
  readonly #logger = new Logger(AcpApi.name);

  constructor(
    private readonly services: AcpServices,
    private readonly ends: CallerEnds,
  ) {}

  accept(socket: WebSocket, caller: Caller | undefined): void {
    if (!caller) return socket.terminate();
    this.#serve(socket, caller).catch((error: unknown) => {
      this.#logger.error(error);
      socket.terminate();
    });
  }

  async #serve(socket: WebSocket, caller: Caller): Promise<void> {
    const budget = new RequestBudget(roleOfScope(caller.scope));
    let incoming!: ReadableStreamDefaultController<AnyMessage>;
    const readable = new ReadableStream<AnyMessage>({ start: (own) => void (incoming = own) });
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary || !budget.take()) return socket.close(closeCodes.tooManyRequests, 'Too much.');
      try {
        incoming.enqueue(parseJson(data) as AnyMessage);
      } catch {
        socket.close(1007, 'Send JSON-RPC, one message in each.');
      }
    });
    const writable = new WritableStream<AnyMessage>({
      // Resolves when the network has taken it: a slow editor is waited for, at its place in the log.
      write: (message) =>
        new Promise<void>((resolve) => socket.send(JSON.stringify(message), () => resolve())),
    });
    // The SDK is loaded with the first editor.
    const { AcpConnection } = await import('./acp-connection.js');
    const connection = new AcpConnection({ readable, writable }, caller, this.services);
    const off = this.ends.on(caller, () =>
      socket.close(closeCodes.unauthorized, 'The token was revoked or has expired.'),
    );
    const end = (): void => {
      off();
      connection.close();
    };
    if (socket.readyState === socket.CLOSED) end();
    else socket.once('close', end);
  }
}
