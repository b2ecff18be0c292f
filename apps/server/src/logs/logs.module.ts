import { Global, Module } from '@nestjs/common';
import { AttachedPictures } from './attached-pictures.js';
import { BlobStore } from './blob-store.js';
import { EventLog } from './event-log.js';
import { TransientNotices } from './transient-notices.js';
import { SessionsStore } from './sessions.store.js';
import { StepCopies } from './step-copies.js';
import { TerminalLog } from './terminal-log.js';

const services = [
  SessionsStore,
  EventLog,
  TerminalLog,
  BlobStore,
  AttachedPictures,
  StepCopies,
  TransientNotices,
];

/** The logs of sessions; every other module of the server may use them. */
@Global()
@Module({
  providers: services,
  exports: services,
})
export class LogsModule {}
