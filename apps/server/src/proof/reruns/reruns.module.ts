import { Module } from '@nestjs/common';
import { ContainersModule } from '../../containers/containers.module.js';
import { EgressModule } from '../../egress/egress.module.js';
import { LogsModule } from '../../logs/logs.module.js';
import { ProgramsModule } from '../../programs/programs.module.js';
import { RerunSandboxes } from './rerun-sandboxes.js';
import { Reruns } from './reruns.js';

@Module({
  imports: [ContainersModule, EgressModule, LogsModule, ProgramsModule],
  providers: [RerunSandboxes, Reruns],
  exports: [Reruns],
})
export class RerunsModule {}
