import { Global, Module } from '@nestjs/common';
import { BlobStore } from './blob-store.js';
import { EventLog } from './event-log.js';
import { Live } from './live.js';
import { SessionStore } from './session.store.js';
import { TerminalLog } from './terminal-log.js';

/** What is written about sessions; every other room of the server may use it. */
@Global()
@Module({
  providers: [SessionStore, EventLog, TerminalLog, BlobStore, Live],
  exports: [SessionStore, EventLog, TerminalLog, BlobStore, Live],
})
export class LogsModule {}
