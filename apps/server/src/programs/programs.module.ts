import { DockerClient } from '@belay/containers';
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
      useFactory: (config: Config) => {
        const { instance, dockerHost, image, sidecarImage } = config;
        return new DockerClient({ instance, dockerHost, trusted: [image, sidecarImage] });
      },
      inject: [Config],
    },
    ProgramContainers,
    ProgramSockets,
  ],
  exports: [DockerClient, ProgramContainers, ProgramSockets],
})
export class ProgramsModule {}
