import { Req, Res } from '@nestjs/common';
import { callNamed, sessionCallRoutes, type ApprovalRequest } from '@belay/protocol';
import type { Request, Response } from 'express';
import { ApprovalService } from '../../approvals/approval.service.js';
import { Dispatcher } from '../../sessions/dispatcher.js';
import { SessionService } from '../../sessions/session.service.js';
import { callerOf } from '../auth/access.guard.js';
import { closing } from './closing.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof sessionCallRoutes>;

@RestController(sessionCallRoutes)
export class SessionCallsController {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly answers: ApprovalService,
    private readonly sessions: SessionService,
  ) {}

  async approvals({ params }: Inputs['approvals']): Promise<ApprovalRequest[]> {
    return (await this.sessions.summary(params.id)).waitingFor;
  }

  /** Closing the request cancels the call. */
  async call(
    { params: { id, name }, body }: Inputs['call'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const call = { name: callNamed(name), input: body ?? {}, caller: callerOf(request) };
    return this.dispatcher.call(id, call, closing(response));
  }

  async answer({ params, body }: Inputs['answer'], @Req() request: Request): Promise<void> {
    const call = { id: params.call, caller: callerOf(request) };
    await this.answers.answer(params.id, call, body);
  }
}
