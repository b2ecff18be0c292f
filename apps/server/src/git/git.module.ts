import { Module } from '@nestjs/common';
import { EgressModule } from '../egress/egress.module.js';
import { GitHostRequests } from './git-host-request.js';
import { GitHosts } from './git-hosts.js';
import { GitHttp } from './git-http.js';
import { RepositoryFetcher } from './repository-fetcher.js';
import { RepositoryPusher } from './repository-pusher.js';
import { SmartHttp } from './smart-http.js';

/** The server fetches and pushes repositories of git hosts. Sandboxes take no part in this, and never get a token. */
@Module({
  imports: [EgressModule],
  providers: [GitHostRequests, GitHosts, GitHttp, RepositoryFetcher, RepositoryPusher, SmartHttp],
  exports: [GitHostRequests, GitHosts, GitHttp, RepositoryFetcher, RepositoryPusher, SmartHttp],
})
export class GitModule {}
