import { Module } from '@nestjs/common';
import { BenchmarkFolder } from './benchmark-folder.js';
import { EvaluationCommand } from './evaluation-command.js';
import { EvaluationService } from './evaluation.service.js';
import { EvaluationStore } from './evaluation.store.js';
import { StartedRuns } from './started-runs.js';

@Module({
  providers: [BenchmarkFolder, EvaluationCommand, EvaluationService, EvaluationStore, StartedRuns],
  exports: [BenchmarkFolder, EvaluationService, StartedRuns],
})
export class EvaluationsModule {}
