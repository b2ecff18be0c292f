import { Global, Module } from '@nestjs/common';
import { Config } from '../config.js';
import { Database } from './database.js';
import { Documents } from './documents.js';
import { ObjectStore } from './object-store.js';
import { openObjects } from './open-objects.js';

/** The server’s settings, its database with the documents in it, and its files, for every module. */
@Global()
@Module({
  providers: [
    { provide: Config, useFactory: () => new Config() },
    Database,
    { provide: ObjectStore, useFactory: openObjects, inject: [Config] },
    { provide: Documents, useFactory: Documents.load, inject: [Config, Database] },
  ],
  exports: [Config, Database, Documents, ObjectStore],
})
export class StorageModule {}
