import { Module } from '@nestjs/common';
import { Deadlines } from './deadlines.js';
import { ModelGateway } from './model-gateway.js';
import { ProviderKeys } from './provider-keys.js';
import { WebSearch } from './web-search.js';

@Module({
  providers: [Deadlines, ModelGateway, ProviderKeys, WebSearch],
  exports: [ModelGateway, ProviderKeys, WebSearch],
})
export class ModelsModule {}
