import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { ModelsModule } from '../models/models.module.js';
import { WireCalls } from './wire-calls.js';

@Module({
  imports: [ApprovalsModule, ModelsModule],
  providers: [WireCalls],
  exports: [WireCalls],
})
export class AgentsModule {}
