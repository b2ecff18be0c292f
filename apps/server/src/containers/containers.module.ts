import { ContainerHost, DockerClient, DockerHost } from '@belay/containers';
import { Module } from '@nestjs/common';
import { Config } from '../config.js';
import { dockerHostOf } from './docker-host-of.js';

/**
 * Where containers run. Sandboxes know `ContainerHost` alone; actions, programs of MCP servers and checks still attach to
 * containers of the engine.
 */
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
    { provide: DockerHost, useFactory: dockerHostOf, inject: [Config, DockerClient] },
    { provide: ContainerHost, useExisting: DockerHost },
  ],
  exports: [ContainerHost, DockerClient, DockerHost],
})
export class ContainersModule {}
