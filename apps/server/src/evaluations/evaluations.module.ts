import { Module } from '@nestjs/common';
import { EvaluationService } from './evaluation.service.js';
import { EvaluationStore } from './evaluation.store.js';

@Module({
  providers: [EvaluationService, EvaluationStore],
  exports: [EvaluationService],
})
export class EvaluationsModule {}
