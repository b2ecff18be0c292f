import { Module } from '@nestjs/common';
import { GitModule } from '../../git/git.module.js';
import { ForgesModule } from '../forges/forges.module.js';
import { Actors } from './actors.js';
import { BranchTips } from './branch-tips.js';
import { Continuations } from './continuations.js';
import { OwnOrigin } from './own-origin.js';
import { Permissions } from './permissions.js';
import { RunMaterials } from './run-materials.js';
import { RunPlaces } from './run-places.js';
import { RunTextReader } from './run-text-reader.js';

/** Who may begin a run, and what of the texts of a git host it is given. */
@Module({
  imports: [GitModule, ForgesModule],
  providers: [
    Actors,
    BranchTips,
    Continuations,
    OwnOrigin,
    Permissions,
    RunMaterials,
    RunPlaces,
    RunTextReader,
  ],
  exports: [Continuations, RunMaterials],
})
export class TrustModule {}
