import { Module } from '@nestjs/common';
import { Deadlines } from './deadlines.js';
import { ModelGateway } from './model-gateway.js';
import { WebSearch } from './web-search.js';

@Module({ providers: [Deadlines, ModelGateway, WebSearch], exports: [ModelGateway, WebSearch] })
export class ModelsModule {}
