import { Module } from '@nestjs/common';
import { ContainersModule } from '../containers/containers.module.js';
import { Evidence } from './evidence.js';
import { NotedHeads } from './noted-heads.js';
import { SigningKeys } from './signing-keys.js';
import { StoredLog } from './stored-log.js';

const services = [Evidence, NotedHeads, SigningKeys, StoredLog];

@Module({ imports: [ContainersModule], providers: services, exports: services })
export class ProofModule {}
