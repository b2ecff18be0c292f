import { Global, Module } from '@nestjs/common';
import { Config } from '../config.js';

/** The server's settings and its database, for every room. */
@Global()
@Module({
  providers: [{ provide: Config, useFactory: () => new Config() }],
  exports: [Config],
})
export class StorageModule {}
