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
    const originOf = (other: number): string =>
      this.addresses.origin({ ...target, port: other }, from);
    const origin = originOf(port);
    const ticket = this.grants.ticket({
      target,
      caller: callerOf(request),
      origin,
      originOf,
      dashboard: request.headers.origin,
      path,
    });
    return { url: `${origin}${openPath}?ticket=${ticket}`, origin };
  }
}
