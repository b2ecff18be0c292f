import { Module } from '@nestjs/common';
import { Evidence } from './evidence.js';
import { NotedHeads } from './noted-heads.js';
import { SigningKeys } from './signing-keys.js';
import { StoredLog } from './stored-log.js';

const services = [Evidence, NotedHeads, SigningKeys, StoredLog];

@Module({ providers: services, exports: services })
export class ProofModule {}
