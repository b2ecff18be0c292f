import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../access/audit-log.js';
import { AttachedPictures } from '../../logs/attached-pictures.js';
import { TransientNotices } from '../../logs/transient-notices.js';
import { Dispatcher } from '../../sessions/dispatcher.js';
import { EventFeed } from '../../sessions/feed/event-feed.js';
import { SessionCommands } from '../commands/session-commands.js';

/** The services that an editor’s connection uses. */
@Injectable()
export class AcpServices {
  constructor(
    readonly commands: SessionCommands,
    readonly dispatcher: Dispatcher,
    readonly feed: EventFeed,
    readonly pictures: AttachedPictures,
    readonly audit: AuditLog,
    readonly live: TransientNotices,
  ) {}
}
