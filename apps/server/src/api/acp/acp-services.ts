import { Injectable } from '@nestjs/common';
import { EventFeed } from '../../sessions/feed/event-feed.js';
import { SessionCommands } from '../commands/session-commands.js';
import { AcpConfig } from './acp-config.js';
import { AcpContent } from './acp-content.js';
import { AcpLive } from './acp-live.js';

/** The services that an editor’s connection uses. */
@Injectable()
export class AcpServices {
  constructor(
    readonly commands: SessionCommands,
    readonly feed: EventFeed,
    readonly content: AcpContent,
    readonly live: AcpLive,
    readonly config: AcpConfig,
  ) {}
}
