import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { WebSocket } from 'ws';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { FeedSources, SessionFollowers } from '../../sessions/feed/session-followers.js';
import { SessionCommands } from '../commands/session-commands.js';
import { SocketConnection } from './socket-connection.js';
import { maxSessions, type SocketFollower } from './socket-follower.js';
import { Upgrades, type SocketApi } from '../upgrades.js';

/** The plain WebSocket at `/ws`: JSON `{action, args, message}` both ways. */
@Injectable()
export class WebSocketApi implements SocketApi, OnModuleDestroy {
  readonly path = '/ws';
  readonly api = 'ws';
  readonly mayIntroduceItself = true;

  readonly #followers: SessionFollowers<SocketFollower>;

  constructor(
    private readonly commands: SessionCommands,
    private readonly upgrades: Upgrades,
    private readonly ends: CallerEnds,
    sources: FeedSources,
  ) {
    this.#followers = new SessionFollowers(sources, {
      maxSessions,
      sendAll: (followers, name, notice) => {
        for (const follower of followers) follower.send(name, notice);
      },
    });
  }

  accept(socket: WebSocket, caller: Caller | undefined): void {
    const { commands, ends } = this;
    new SocketConnection(socket, caller, {
      commands,
      ends,
      introduce: (token) => this.upgrades.introduced(socket, token),
      followers: this.#followers,
    });
  }

  onModuleDestroy(): void {
    this.#followers.close();
  }
}
