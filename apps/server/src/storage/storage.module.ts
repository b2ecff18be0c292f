import { Global, Module } from '@nestjs/common';
import { Config } from '../config.js';
import { Database } from './database.js';

/** The server’s settings and its database, for every module. */
@Global()
@Module({
  providers: [{ provide: Config, useFactory: () => new Config() }, Database],
  exports: [Config, Database],
})
export class StorageModule {}
