import { api, type Comparison } from '@belay/protocol';
import { Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Comparisons } from '../../sessions/comparisons.js';
import { SessionChecks } from '../../sessions/session-checks.js';
import { callerOf } from '../auth/access.guard.js';
import { pageOf } from './paging.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.comparisons>;

@RestController(api.comparisons)
export class ComparisonsController {
  constructor(
    private readonly comparisons: Comparisons,
    private readonly checks: SessionChecks,
  ) {}

  async list(
    { query }: Inputs['list'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Comparison[]> {
    const found = await this.comparisons.list(callerOf(request));
    return pageOf(found, query, { request, response });
  }

  create({ body }: Inputs['create'], @Req() request: Request): Promise<Comparison> {
    return this.comparisons.create(body, callerOf(request));
  }

  get({ params }: Inputs['get'], @Req() request: Request): Promise<Comparison> {
    return this.comparisons.get(params.id, callerOf(request));
  }

  keep({ params, body }: Inputs['keep'], @Req() request: Request): Promise<Comparison> {
    return this.comparisons.keep(params.id, body.session, callerOf(request));
  }

  undo({ params }: Inputs['undo'], @Req() request: Request): Promise<Comparison> {
    return this.comparisons.undo(params.id, callerOf(request));
  }

  check({ params }: Inputs['check']): Promise<void> {
    return this.checks.again(params.id);
  }
}
