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
      useFactory: (config: Config) => {
        const { instance, dockerHost, image, sidecarImage, socketVolume, runtimeFolder } = config;
        return new DockerClient({
          instance,
          dockerHost,
          trusted: [image, sidecarImage],
          sockets:
            socketVolume === undefined
              ? undefined
              : { folder: runtimeFolder, volume: socketVolume },
        });
      },
      inject: [Config],
    },
    ProgramContainers,
    ProgramSockets,
  ],
  exports: [DockerClient, ProgramContainers, ProgramSockets],
})
export class ProgramsModule {}
