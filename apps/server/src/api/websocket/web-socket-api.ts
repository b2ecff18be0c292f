import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { FeedSources, SessionFollowers } from '../../sessions/feed/session-followers.js';
import { SessionCommands } from '../commands/session-commands.js';
import type { ApiSocket } from '../api-socket.js';
import { SocketConnection } from './socket-connection.js';
import { maxSessions, type SocketFollower } from './socket-follower.js';
import type { SocketApi } from '../upgrades.js';

/** The plain WebSocket at `/ws`: JSON `{action, args, message}` both ways. */
@Injectable()
export class WebSocketApi implements SocketApi, OnModuleDestroy {
  readonly path = '/ws';
  readonly api = 'ws';
  readonly mayIntroduceItself = true;

  readonly #followers: SessionFollowers<SocketFollower>;

  constructor(
    private readonly commands: SessionCommands,
    sources: FeedSources,
  ) {
    this.#followers = new SessionFollowers(sources, {
      maxSessions,
      sendAll: (followers, name, notice) => {
        for (const follower of followers) follower.send(name, notice);
      },
    });
  }

  accept(socket: ApiSocket): void {
    new SocketConnection(socket, this.commands, this.#followers);
  }

  onModuleDestroy(): void {
    this.#followers.close();
  }
}
