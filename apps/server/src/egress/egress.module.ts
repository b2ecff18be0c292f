import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { EgressService } from './egress.service.js';
import { Resolver } from './resolver.js';

@Module({
  imports: [ApprovalsModule],
  providers: [EgressService, Resolver],
  exports: [EgressService, Resolver],
})
export class EgressModule {}
