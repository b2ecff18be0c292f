import { Req, Res } from '@nestjs/common';
import {
  api,
  budgets,
  type BenchmarkData,
  type Evaluation,
  type EvaluationSummary,
  type EvaluationTrial,
  type ReportedTrials,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { BenchmarkFolder } from '../../evaluations/benchmark-folder.js';
import { EvaluationService } from '../../evaluations/evaluation.service.js';
import { StartedRuns } from '../../evaluations/started-runs.js';
import { BlobStore } from '../../logs/blob-store.js';
import { ModelGateway } from '../../models/model-gateway.js';
import { callerOf } from '../auth/access.guard.js';
import { pageOf } from './paging.js';
import { RestController, type RouteInputs } from './rest-controller.js';
import { sendBlob } from './send-blob.js';

type Inputs = RouteInputs<typeof api.evaluations>;

/**
 * The board of benchmark runs: their processes report to it, and all callers who see all sessions may read it. Admins
 * start and stop runs on this machine.
 */
@RestController(api.evaluations)
export class EvaluationsController {
  constructor(
    private readonly evaluations: EvaluationService,
    private readonly blobs: BlobStore,
    private readonly runs: StartedRuns,
    private readonly folder: BenchmarkFolder,
    private readonly models: ModelGateway,
  ) {}

  async list(
    { query }: Inputs['list'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<EvaluationSummary[]> {
    const sorted = (await this.evaluations.list()).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    return pageOf(sorted, query, { request, response });
  }

  data(): Promise<BenchmarkData> {
    return this.folder.list();
  }

  async start({ body }: Inputs['start'], @Req() request: Request): Promise<EvaluationSummary> {
    const caller = callerOf(request);
    const { model, maxDollars } = body;
    const limit = budgets.parse({ dollars: maxDollars });
    if (model !== null) await this.models.choose(model, { caller, budgets: limit });
    return this.runs.start(body, caller);
  }

  stop({ params }: Inputs['stop'], @Req() request: Request): Promise<void> {
    return this.runs.stop(params.id, callerOf(request));
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

  async remove({ params }: Inputs['remove']): Promise<void> {
    this.runs.assertEnded(params.id);
    return this.evaluations.remove(params.id);
  }
}
