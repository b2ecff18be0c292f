import { Module } from '@nestjs/common';
import { EgressModule } from '../../egress/egress.module.js';
import { GitModule } from '../../git/git.module.js';
import { ForgeSources } from './forge-sources.js';
import { Forges } from './forges.js';
import { HostPauses } from './host-pauses.js';
import { PullChanges } from './pull-changes.js';

/** The repositories at git hosts that automations follow, and the clients of their APIs. */
@Module({
  imports: [EgressModule, GitModule],
  providers: [ForgeSources, Forges, HostPauses, PullChanges],
  exports: [ForgeSources, Forges, PullChanges],
})
export class ForgesModule {}
