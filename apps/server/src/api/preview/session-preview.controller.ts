import { Req } from '@nestjs/common';
import { sessionPreviewRoutes, type OpenedPreview } from '@belay/protocol';
import type { Request } from 'express';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from '../rest/rest-controller.js';
import { PreviewAddress } from './preview-address.js';
import { PreviewGrants } from './preview-grants.js';
import { openPath } from './preview-server.js';
import { PreviewStreams } from './preview-streams.js';

type Inputs = RouteInputs<typeof sessionPreviewRoutes>;

@RestController(sessionPreviewRoutes)
export class SessionPreviewController {
  constructor(
    private readonly addresses: PreviewAddress,
    private readonly grants: PreviewGrants,
    private readonly streams: PreviewStreams,
  ) {}

  async preview(
    { params, body: { port, path } }: Inputs['preview'],
    @Req() request: Request,
  ): Promise<OpenedPreview> {
    const target = { session: params.id, port };
    await this.streams.check(target.session);
    const from = this.addresses.dashboard(request);
    const origin = this.addresses.origin(target, from);
    const { origin: dashboard } = request.headers;
    const wanted = { target, caller: callerOf(request), from: from.origin, dashboard };
    const ticket = this.grants.ticket(wanted, path);
    return { url: `${origin}${openPath}?ticket=${ticket}`, origin };
  }
}
