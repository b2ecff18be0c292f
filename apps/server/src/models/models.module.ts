import { Module } from '@nestjs/common';
import { ModelGateway } from './model-gateway.js';
import { WebSearch } from './web-search.js';

@Module({ providers: [ModelGateway, WebSearch], exports: [ModelGateway, WebSearch] })
export class ModelsModule {}
