import { Req, Res } from '@nestjs/common';
import { callNamed, sessionCallRoutes, type ApprovalRequest } from '@belay/protocol';
import type { Request, Response } from 'express';
import { Dispatcher } from '../../sessions/dispatcher.js';
import { SessionService } from '../../sessions/session.service.js';
import { callerOf } from '../auth/access.guard.js';
import { SessionCommands } from '../commands/session-commands.js';
import { abortedOnClose } from './aborted-on-close.js';
import { CommandController } from './command-controller.js';
import type { RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof sessionCallRoutes>;

@CommandController(sessionCallRoutes)
export class SessionCallsController {
  constructor(
    readonly commands: SessionCommands,
    private readonly dispatcher: Dispatcher,
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
    const call = {
      name: callNamed(name),
      input: body === undefined ? {} : body,
      caller: callerOf(request),
    };
    return this.dispatcher.call(id, call, abortedOnClose(response));
  }
}
