import { Req, Res } from '@nestjs/common';
import {
  api,
  type Evaluation,
  type EvaluationSummary,
  type EvaluationTrial,
  type ReportedTrials,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { seesAll } from '../../access/caller.js';
import { EvaluationService, unknownRun } from '../../evaluations/evaluation.service.js';
import { BlobStore } from '../../logs/blob-store.js';
import { callerOf } from '../auth/access.guard.js';
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
    const runs = seesAll(callerOf(request)) ? await this.evaluations.list() : [];
    const sorted = runs.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    return pageOf(sorted, query, { request, response });
  }

  async get({ params }: Inputs['get'], @Req() request: Request): Promise<Evaluation> {
    refuseLimited(request, params.id);
    return this.evaluations.get(params.id);
  }

  async trials(
    { params, query }: Inputs['trials'],
    @Req() request: Request,
  ): Promise<ReportedTrials> {
    refuseLimited(request, params.id);
    return this.evaluations.trials(params.id, query.after);
  }

  async blob(
    { params }: Inputs['blob'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    refuseLimited(request, params.id);
    await this.evaluations.get(params.id);
    sendBlob(params.blob, await this.blobs.get(params.blob), { request, response });
  }

  async open(
    { params, body }: Inputs['open'],
    @Req() request: Request,
  ): Promise<{ epoch: number; trials: EvaluationTrial[] }> {
    refuseLimited(request, params.id);
    return this.evaluations.open(params.id, body);
  }

  async report({ params, body }: Inputs['report'], @Req() request: Request): Promise<void> {
    refuseLimited(request, params.id);
    return this.evaluations.report(params.id, body);
  }

  async remove({ params }: Inputs['remove'], @Req() request: Request): Promise<void> {
    refuseLimited(request, params.id);
    return this.evaluations.remove(params.id);
  }
}

/** A run contains many sessions, so callers who do not see all sessions see no run. */
function refuseLimited(request: Request, run: string): void {
  if (!seesAll(callerOf(request))) throw unknownRun(run);
}
