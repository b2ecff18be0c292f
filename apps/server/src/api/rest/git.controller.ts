import { Req } from '@nestjs/common';
import { gitRoutes, type GitHost } from '@belay/protocol';
import type { Request } from 'express';
import { GitHosts } from '../../git/git-hosts.js';
import { GitHostApi } from '../../publishing/git-host-api.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof gitRoutes>;

const testTimeoutMs = 20_000;

/** The git hosts. Tokens are write-only. */
@RestController(gitRoutes)
export class GitController {
  constructor(
    private readonly gitHosts: GitHosts,
    private readonly api: GitHostApi,
  ) {}

  hosts(): GitHost[] {
    return this.gitHosts.list();
  }

  setHost({ params, body }: Inputs['setHost']): Promise<GitHost> {
    return this.gitHosts.set(params.host, body);
  }

  async testHost(
    { params }: Inputs['testHost'],
    @Req() request: Request,
  ): Promise<{ user: string }> {
    const host = this.gitHosts.require(params.host);
    const origin = `${host.insecure ? 'http' : 'https'}://${host.host}`;
    // The path does not matter: only the host is asked.
    const remote = this.gitHosts.remote(`${origin}/x/x`, callerOf(request).scope);
    const signal = AbortSignal.timeout(testTimeoutMs);
    return { user: await this.api.user({ remote, host, signal }) };
  }

  removeHost({ params }: Inputs['removeHost']): Promise<void> {
    return this.gitHosts.remove(params.host);
  }
}
