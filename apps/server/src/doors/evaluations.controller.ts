import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Put,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import {
  evaluationChanges,
  evaluationFacts,
  type EvaluationSummary,
  type EvaluationTrial,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { EvaluationService } from '../evaluations/evaluation.service.js';
import { BlobStore } from '../logs/blob-store.js';
import { sendBlob } from './send-blob.js';

class FactsBody extends createZodDto(evaluationFacts) {}
class ChangesBody extends createZodDto(evaluationChanges) {}
class RunParams extends createZodDto(z.object({ id: z.string().regex(/^[\w-]{1,64}$/) })) {}
class TrialsQuery extends createZodDto(
  z.object({ after: z.coerce.number().int().nonnegative().default(0) }),
) {}

/** The board of benchmark runs: those who run them report, everybody with a token may look. */
@Controller('api/evaluations')
export class EvaluationsController {
  constructor(
    private readonly evaluations: EvaluationService,
    private readonly blobs: BlobStore,
  ) {}

  @Get()
  list(): Promise<EvaluationSummary[]> {
    return this.evaluations.list();
  }

  @Get(':id')
  get(@Param('id') id: string): Promise<{ summary: EvaluationSummary; tasks: string[] }> {
    return this.evaluations.get(id);
  }

  @Get(':id/trials')
  trials(
    @Param('id') id: string,
    @Query() { after }: TrialsQuery,
  ): Promise<{ seq: number; trials: EvaluationTrial[] }> {
    return this.evaluations.trials(id, after);
  }

  /** What was handed in, or what the tests printed. */
  @Get(':id/blobs/:blob')
  async blob(
    @Param() { id, blob }: { id: string; blob: string },
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.evaluations.get(id);
    await sendBlob(this.blobs, blob, { request, response });
  }

  @Put(':id')
  open(
    @Param() { id }: RunParams,
    @Body() facts: FactsBody,
  ): Promise<{ epoch: number; trials: EvaluationTrial[] }> {
    return this.evaluations.open(id, facts);
  }

  @Post(':id/reports')
  @HttpCode(204)
  report(@Param('id') id: string, @Body() changes: ChangesBody): Promise<void> {
    return this.evaluations.report(id, changes);
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Param('id') id: string): Promise<void> {
    return this.evaluations.remove(id);
  }
}
