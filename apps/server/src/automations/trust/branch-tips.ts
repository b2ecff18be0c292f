import { Injectable } from '@nestjs/common';
import { GitHosts } from '../../git/git-hosts.js';
import { SmartHttp } from '../../git/smart-http.js';

const timeoutMs = 30_000;

/** Where branches are now, as git itself says. */
@Injectable()
export class BranchTips {
  constructor(
    private readonly hosts: GitHosts,
    private readonly http: SmartHttp,
  ) {}

  /** The address from which a repository is cloned. */
  urlOf(host: string, repository: string): string {
    const scheme = this.hosts.describe(host).insecure ? 'http' : 'https';
    return `${scheme}://${host}/${repository}.git`;
  }

  /** Undefined for a branch that does not exist. */
  async tipOf(url: string, branch: string): Promise<string | undefined> {
    const remote = this.hosts.remote(url, 'operate');
    const signal = AbortSignal.timeout(timeoutMs);
    const { refs } = await this.http.refs(remote, 'git-upload-pack', signal);
    return refs.get(`refs/heads/${branch}`);
  }
}
