import { Module } from '@nestjs/common';
import { NotedHeads } from './noted-heads.js';
import { SigningKeys } from './signing-keys.js';
import { StoredLog } from './stored-log.js';

const services = [NotedHeads, SigningKeys, StoredLog];

@Module({ providers: services, exports: services })
export class ProofModule {}
