import { Global, Module } from '@nestjs/common';
import { Config } from '../config.js';
import { ColdChanges } from './cold-changes.js';
import { Database } from './database.js';
import { Documents } from './documents.js';
import { ExpiringValues } from './expiring-values.js';
import { LiveServers } from './live-servers.js';
import { ObjectStore } from './object-store.js';
import { openObjects } from './open-objects.js';

/** The server’s settings, its database with the documents in it, and its files, for every module. */
@Global()
@Module({
  providers: [
    { provide: Config, useFactory: () => new Config() },
    Database,
    { provide: ObjectStore, useFactory: openObjects, inject: [Config, LiveServers] },
    ColdChanges,
    LiveServers,
    {
      provide: Documents,
      useFactory: async (config: Config, database: Database, changes: ColdChanges) => {
        const documents = await Documents.load(config, database);
        changes.follow('document', (name) => documents.refresh(name));
        return documents;
      },
      inject: [Config, Database, ColdChanges],
    },
    ExpiringValues,
  ],
  exports: [Config, Database, ColdChanges, Documents, ExpiringValues, LiveServers, ObjectStore],
})
export class StorageModule {}
