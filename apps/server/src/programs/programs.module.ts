import { Module } from '@nestjs/common';
import { ContainersModule } from '../containers/containers.module.js';
import { EgressModule } from '../egress/egress.module.js';
import { ProgramContainers } from './program-containers.js';
import { ProgramSockets } from './program-sockets.js';

@Module({
  imports: [ContainersModule, EgressModule],
  providers: [ProgramContainers, ProgramSockets],
  exports: [ProgramContainers, ProgramSockets],
})
export class ProgramsModule {}
