import { DockerClient } from '@belay/docker';
import { Module } from '@nestjs/common';
import { Config } from '../config.js';
import { EgressModule } from '../egress/egress.module.js';
import { ProgramContainers } from './program-containers.js';
import { ProgramSockets } from './program-sockets.js';

@Module({
  imports: [EgressModule],
  providers: [
    {
      provide: DockerClient,
      useFactory: (config: Config) => new DockerClient(config),
      inject: [Config],
    },
    ProgramContainers,
    ProgramSockets,
  ],
  exports: [DockerClient, ProgramContainers, ProgramSockets],
})
export class ProgramsModule {}
