import { Injectable } from '@nestjs/common';
import type { WebSocket } from 'ws';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { Live } from '../../logs/live.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { EventFeed } from '../../sessions/feed/event-feed.js';
import { SessionCommands } from '../commands/session-commands.js';
import { SocketConnection } from './socket-connection.js';
import { SocketWatches } from './socket-watches.js';
import { Upgrades, type SocketApi } from '../upgrades.js';

/** The plain WebSocket at `/ws`: JSON `{action, args, message}` both ways. */
@Injectable()
export class WebSocketApi implements SocketApi {
  readonly path = '/ws';
  readonly api = 'ws';
  readonly mayIntroduceItself = true;

  constructor(
    private readonly commands: SessionCommands,
    private readonly feed: EventFeed,
    private readonly terminals: TerminalLog,
    private readonly live: Live,
    private readonly upgrades: Upgrades,
    private readonly ends: CallerEnds,
  ) {}

  accept(socket: WebSocket, caller: Caller | undefined): void {
    const { commands, feed, terminals, live, ends } = this;
    new SocketConnection(socket, caller, {
      commands,
      ends,
      introduce: (token) => this.upgrades.introduced(socket, token),
      watches: (send) => new SocketWatches({ feed, terminals, live }, send),
    });
  }
}
