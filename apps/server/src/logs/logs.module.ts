import { Global, Module } from '@nestjs/common';
import { Config } from '../config.js';
import { Database } from '../storage/database.js';
import { ObjectStore } from '../storage/object-store.js';
import { AttachedPictures } from './attached-pictures.js';
import { BlobStore } from './blob-store.js';
import { LogHeads } from './log-heads.js';
import { EventLog } from './event-log.js';
import { TransientNotices } from './transient-notices.js';
import { SessionsStore } from './sessions.store.js';
import { openTerminals } from './open-terminals.js';
import { StepCopies } from './step-copies.js';
import { TerminalLog } from './terminal-log.js';
import { TerminalStore } from './terminal-store.js';

const services = [
  LogHeads,
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
  providers: [
    ...services,
    {
      provide: TerminalStore,
      useFactory: openTerminals,
      inject: [Config, Database, ObjectStore, EventLog],
    },
  ],
  exports: services,
})
export class LogsModule {
  constructor(log: EventLog, blobs: BlobStore) {
    log.onBegun((session) => blobs.forget(session));
  }
}
