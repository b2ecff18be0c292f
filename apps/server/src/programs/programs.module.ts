import { Module } from '@nestjs/common';
import { ContainersModule } from '../containers/containers.module.js';
import { EgressModule } from '../egress/egress.module.js';
import { ContainedPrograms } from './contained-programs.js';
import { McpPrograms } from './mcp-programs.js';

@Module({
  imports: [ContainersModule, EgressModule],
  providers: [ContainedPrograms, McpPrograms],
  exports: [ContainedPrograms, McpPrograms],
})
export class ProgramsModule {}
