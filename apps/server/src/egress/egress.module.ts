import { Module } from '@nestjs/common';
import { EgressService } from './egress.service.js';

@Module({ providers: [EgressService], exports: [EgressService] })
export class EgressModule {}
