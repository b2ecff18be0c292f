import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { Deadlines } from './deadlines.js';
import { ModelGateway } from './model-gateway.js';
import { ProviderKeys } from './provider-keys.js';
import { WebSearch } from './web-search.js';
import { WireGateway } from './wire/wire-gateway.js';

@Module({
  imports: [ApprovalsModule],
  providers: [Deadlines, ModelGateway, ProviderKeys, WebSearch, WireGateway],
  exports: [Deadlines, ModelGateway, ProviderKeys, WebSearch, WireGateway],
})
export class ModelsModule {}
