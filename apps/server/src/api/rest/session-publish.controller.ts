import { Req } from '@nestjs/common';
import {
  sessionPublishRoutes,
  type PreparedPublish,
  type PullRequestStatus,
  type PublishedChange,
  type RouteResult,
} from '@belay/protocol';
import type { Request } from 'express';
import { MessageDrafts } from '../../publishing/message-drafts.js';
import { PullRequests } from '../../publishing/pull-requests.js';
import { PublishingService } from '../../publishing/publishing.service.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof sessionPublishRoutes>;

@RestController(sessionPublishRoutes)
export class SessionPublishController {
  constructor(
    private readonly publishing: PublishingService,
    private readonly drafts: MessageDrafts,
    private readonly requests: PullRequests,
  ) {}

  draftMessage({
    params,
  }: Inputs['draftMessage']): Promise<RouteResult<typeof sessionPublishRoutes.draftMessage>> {
    return this.drafts.draft(params.id);
  }

  preparePublish(
    { params, body }: Inputs['preparePublish'],
    @Req() request: Request,
  ): Promise<PreparedPublish> {
    return this.publishing.prepare(params.id, body, callerOf(request));
  }

  async pullRequest(
    { params }: Inputs['pullRequest'],
    @Req() request: Request,
  ): Promise<{ pullRequest: PullRequestStatus | null }> {
    return { pullRequest: await this.requests.status(params.id, callerOf(request)) };
  }

  publish({ params, body }: Inputs['publish'], @Req() request: Request): Promise<PublishedChange> {
    return this.publishing.publish(params.id, body, callerOf(request));
  }
}
