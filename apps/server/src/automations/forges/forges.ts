import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { GitHostRequests } from '../../git/git-host-request.js';
import { GitHosts } from '../../git/git-hosts.js';
import { ForgeApi } from './forge-api.js';
import { pathPart } from './forge-fields.js';
import type { ForgeReader } from './forge-polling.js';
import type { Forge } from './forge.js';
import { GiteaForge } from './gitea-forge.js';
import { GithubForge } from './github-forge.js';
import { GitlabForge } from './gitlab-forge.js';
import { HostPauses } from './host-pauses.js';

/** Opens repositories of git hosts, with the token that an admin set up for the host. */
@Injectable()
export class Forges {
  constructor(
    private readonly hosts: GitHosts,
    private readonly requests: GitHostRequests,
    private readonly pauses: HostPauses,
  ) {}

  /**
   * Throws `not_found` for a host that is not set up, and `invalid_input` for one without a token or of a kind without an
   * API. Sends nothing.
   */
  open(host: string, repository: string): Forge & ForgeReader {
    const found = this.hosts.require(host);
    const origin = `${found.insecure ? 'http' : 'https'}://${host}`;
    // Only an admin makes automations, so that the token may be one for admins alone.
    const remote = this.hosts.remote(`${origin}/${repository}`, 'admin');
    const { kind } = found;
    if (kind === 'other' || !remote.credential)
      throw new AppError(
        'invalid_input',
        `${host} is not set up for automations. Set its kind and a token under Settings, Git hosts.`,
      );
    const path = repository.replace(/\.git$/, '');
    const parts = path.split('/');
    // The address is without `..`, which would lead to another repository than the one that was named.
    const isPlain = remote.address.path === repository;
    if (!isPlain || parts.length < 2 || (kind !== 'gitlab' && parts.length > 2))
      throw new AppError(
        'invalid_input',
        `${path} is not a repository of ${host}. Write it as OWNER/NAME.`,
      );
    const at =
      kind === 'gitlab'
        ? `projects/${encodeURIComponent(path)}`
        : `repos/${parts.map(pathPart).join('/')}`;
    const api = new ForgeApi(this.requests, { remote, host: found }, this.pauses, at);
    if (kind === 'gitlab') return new GitlabForge(api);
    return kind === 'github' ? new GithubForge(api) : new GiteaForge(api);
  }
}
