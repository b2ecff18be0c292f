import {
  sessionRoutes,
  sessionUsage,
  type SessionUsage,
  type Rewound,
  type SessionSummary,
} from '@belay/protocol';
import { Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Found } from '../../logs/event-text.js';
import { Forking } from '../../sessions/forking.js';
import { Rewinding } from '../../sessions/rewinding.js';
import { Search } from '../../sessions/search.js';
import { SessionCreation } from '../../sessions/session-creation.js';
import { SessionRemoval } from '../../sessions/session-removal.js';
import { SessionService } from '../../sessions/session.service.js';
import { begun, callerOf } from '../auth/access.guard.js';
import { pageOf } from './paging.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof sessionRoutes>;

@RestController(sessionRoutes)
export class SessionsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly creation: SessionCreation,
    private readonly removal: SessionRemoval,
    private readonly forking: Forking,
    private readonly rewinding: Rewinding,
    private readonly searches: Search,
  ) {}

  async list(
    { query }: Inputs['list'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionSummary[]> {
    const { comparison } = query;
    const all = await this.sessions.list(callerOf(request));
    const sessions = comparison ? all.filter((each) => each.comparison === comparison) : all;
    return pageOf(sessions, query, { request, response, idOf: ({ id }) => id });
  }

  async create({ body }: Inputs['create'], @Req() request: Request): Promise<SessionSummary> {
    const made = await this.creation.create(body, callerOf(request));
    begun(made, request);
    return made;
  }

  get({ params }: Inputs['get']): Promise<SessionSummary> {
    return this.sessions.summary(params.id);
  }

  change({ params, body }: Inputs['change']): Promise<SessionSummary> {
    return this.sessions.change(params.id, body);
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.removal.remove(params.id);
  }

  async usage({ params }: Inputs['usage']): Promise<SessionUsage> {
    return sessionUsage.parse(await this.sessions.summary(params.id));
  }

  message({ params, body }: Inputs['message'], @Req() request: Request): Promise<void> {
    return this.sessions.message(params.id, body, callerOf(request));
  }

  editMessage({ params, body }: Inputs['editMessage']): Promise<void> {
    return this.sessions.editMessage(params.id, params.message, body.text);
  }

  withdrawMessage({ params }: Inputs['withdrawMessage']): Promise<void> {
    return this.sessions.withdrawMessage(params.id, params.message);
  }

  pause({ params }: Inputs['pause']): Promise<void> {
    return this.sessions.pause(params.id);
  }

  resume({ params }: Inputs['resume']): Promise<void> {
    return this.sessions.resume(params.id);
  }

  stop({ params }: Inputs['stop']): Promise<void> {
    return this.sessions.stop(params.id);
  }

  restart({ params }: Inputs['restart']): Promise<void> {
    return this.sessions.restart(params.id);
  }

  wake({ params }: Inputs['wake']): Promise<void> {
    return this.sessions.wake(params.id);
  }

  fork({ params, body }: Inputs['fork'], @Req() request: Request): Promise<SessionSummary> {
    return this.forking.fork(params.id, body, callerOf(request));
  }

  rewind({ params, body }: Inputs['rewind'], @Req() request: Request): Promise<Rewound> {
    return this.rewinding.rewind(params.id, body, callerOf(request));
  }

  search({ query }: Inputs['search'], @Req() request: Request): Promise<Found[]> {
    return this.searches.find(query.q, callerOf(request));
  }
}
