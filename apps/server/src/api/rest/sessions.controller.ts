import {
  sessionRoutes,
  sessionUsage,
  type SessionSummary,
  type SessionUsage,
} from '@belay/protocol';
import { Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { TextMatch } from '../../logs/event-text.js';
import { Search } from '../../sessions/search.js';
import { SessionService } from '../../sessions/session.service.js';
import { Transcripts } from '../../sessions/transcripts.js';
import { callerOf, noteMade } from '../auth/access.guard.js';
import { SessionCommands } from '../commands/session-commands.js';
import { CommandController } from './command-controller.js';
import { pageOf } from './paging.js';
import type { RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof sessionRoutes>;

@CommandController(sessionRoutes)
export class SessionsController {
  constructor(
    readonly commands: SessionCommands,
    private readonly sessions: SessionService,
    private readonly searches: Search,
    private readonly transcripts: Transcripts,
  ) {}

  async list(
    { query }: Inputs['list'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionSummary[]> {
    const { comparison } = query;
    const all = await this.sessions.list(callerOf(request));
    const sessions = comparison ? all.filter((each) => each.comparison === comparison) : all;
    return pageOf(sessions, query, { request, response });
  }

  async usage({ params }: Inputs['usage']): Promise<SessionUsage> {
    return sessionUsage.parse(await this.sessions.summary(params.id));
  }

  async import({ body }: Inputs['import'], @Req() request: Request): Promise<SessionSummary> {
    const session = await this.transcripts.import(body, callerOf(request));
    noteMade({ session: session.id, subject: session.title }, request);
    return session;
  }

  search({ query }: Inputs['search'], @Req() request: Request): Promise<TextMatch[]> {
    return this.searches.find(query.q, callerOf(request));
  }
}
