import { ContainerHost, DockerClient } from '@belay/containers';
import { Module } from '@nestjs/common';
import { Config } from '../config.js';
import { ContainerDials } from './container-dials.js';
import { dockerHostOf } from './docker-host-of.js';

/** Where containers run. All else knows `ContainerHost` alone. */
@Module({
  providers: [
    {
      provide: DockerClient,
      useFactory: (config: Config) => {
        const { instance, dockerHost, image, sidecarImage } = config;
        return new DockerClient({ instance, dockerHost, trusted: [image, sidecarImage] });
      },
      inject: [Config],
    },
    { provide: ContainerHost, useFactory: dockerHostOf, inject: [Config, DockerClient] },
    ContainerDials,
  ],
  exports: [ContainerDials, ContainerHost],
})
export class ContainersModule {}
