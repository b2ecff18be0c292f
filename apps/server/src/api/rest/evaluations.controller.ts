import { Req, Res } from '@nestjs/common';
import {
  api,
  type Evaluation,
  type EvaluationSummary,
  type EvaluationTrial,
  type ReportedTrials,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { EvaluationService } from '../../evaluations/evaluation.service.js';
import { BlobStore } from '../../logs/blob-store.js';
import { pageOf } from './paging.js';
import { RestController, type RouteInputs } from './rest-controller.js';
import { sendBlob } from './send-blob.js';

type Inputs = RouteInputs<typeof api.evaluations>;

/** The board of benchmark runs: their processes report to it, and all callers who see all sessions may read it. */
@RestController(api.evaluations)
export class EvaluationsController {
  constructor(
    private readonly evaluations: EvaluationService,
    private readonly blobs: BlobStore,
  ) {}

  async list(
    { query }: Inputs['list'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<EvaluationSummary[]> {
    const sorted = (await this.evaluations.list()).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    return pageOf(sorted, query, { request, response });
  }

  get({ params }: Inputs['get']): Promise<Evaluation> {
    return this.evaluations.get(params.id);
  }

  trials({ params, query }: Inputs['trials']): Promise<ReportedTrials> {
    return this.evaluations.trials(params.id, query.after);
  }

  async blob(
    { params }: Inputs['blob'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.evaluations.get(params.id);
    sendBlob(params.blob, await this.blobs.get(params.blob), { request, response });
  }

  open({ params, body }: Inputs['open']): Promise<{ epoch: number; trials: EvaluationTrial[] }> {
    return this.evaluations.open(params.id, body);
  }

  report({ params, body }: Inputs['report']): Promise<void> {
    return this.evaluations.report(params.id, body);
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.evaluations.remove(params.id);
  }
}
