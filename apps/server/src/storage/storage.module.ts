import { Global, Module } from '@nestjs/common';
import { Config } from '../config.js';
import { Database } from './database.js';
import { Documents } from './documents.js';

/** The server’s settings, its database and the documents in it, for every module. */
@Global()
@Module({
  providers: [
    { provide: Config, useFactory: () => new Config() },
    Database,
    { provide: Documents, useFactory: Documents.load, inject: [Config, Database] },
  ],
  exports: [Config, Database, Documents],
})
export class StorageModule {}
