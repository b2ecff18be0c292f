import { Module } from '@nestjs/common';
import { NotedHeads } from './noted-heads.js';
import { StoredLog } from './stored-log.js';

const services = [NotedHeads, StoredLog];

@Module({ providers: services, exports: services })
export class ProofModule {}
