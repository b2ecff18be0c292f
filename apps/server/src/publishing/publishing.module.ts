import { Module } from '@nestjs/common';
import { GitModule } from '../git/git.module.js';
import { ModelsModule } from '../models/models.module.js';
import { ProofModule } from '../proof/proof.module.js';
import { RerunsModule } from '../proof/reruns/reruns.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { GitHostApi } from './git-host-api.js';
import { MessageDrafts } from './message-drafts.js';
import { PullRequests } from './pull-requests.js';
import { ProofBlocks } from './proof-blocks.js';
import { ProvenCommits } from './proven-commits.js';
import { PublishPreparation } from './publish-preparation.js';
import { PublishTargets } from './publish-targets.js';
import { PublishingService } from './publishing.service.js';
import { RepeatedReruns } from './repeated-reruns.js';
import { SessionPushes } from './session-pushes.js';
import { Traces } from './traces/traces.js';

@Module({
  imports: [GitModule, ModelsModule, ProofModule, RerunsModule, SessionsModule],
  providers: [
    GitHostApi,
    MessageDrafts,
    ProofBlocks,
    ProvenCommits,
    PublishPreparation,
    PublishTargets,
    PublishingService,
    PullRequests,
    RepeatedReruns,
    SessionPushes,
    Traces,
  ],
  exports: [
    GitHostApi,
    MessageDrafts,
    ProofBlocks,
    PublishingService,
    PullRequests,
    RepeatedReruns,
    Traces,
  ],
})
export class PublishingModule {}
