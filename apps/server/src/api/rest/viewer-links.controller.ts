import { api, type MadeViewerLink, type ViewerLink } from '@belay/protocol';
import { Req, type OnModuleInit } from '@nestjs/common';
import type { Request } from 'express';
import { ViewerLinks } from '../../access/viewer-links.js';
import { SessionRemoval } from '../../sessions/session-removal.js';
import { SessionService } from '../../sessions/session.service.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.viewerLinks>;

@RestController(api.viewerLinks)
export class ViewerLinksController implements OnModuleInit {
  constructor(
    private readonly links: ViewerLinks,
    private readonly sessions: SessionService,
    private readonly removal: SessionRemoval,
  ) {}

  onModuleInit(): void {
    this.removal.onRemoved((session) => this.links.endOf(session));
  }

  async list({ params }: Inputs['list']): Promise<ViewerLink[]> {
    await this.sessions.summary(params.id);
    return this.links.list(params.id);
  }

  async create(
    { params, body }: Inputs['create'],
    @Req() request: Request,
  ): Promise<MadeViewerLink> {
    await this.sessions.summary(params.id);
    return this.links.create(params.id, body, callerOf(request));
  }

  revoke({ params }: Inputs['revoke']): Promise<void> {
    return this.links.revoke(params.id, params.link);
  }
}
