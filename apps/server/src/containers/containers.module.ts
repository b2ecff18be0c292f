import { ContainerHost, DockerClient } from '@belay/containers';
import { Module } from '@nestjs/common';
import { Config } from '../config.js';
import { Documents } from '../storage/documents.js';
import { LiveServers } from '../storage/live-servers.js';
import { ObjectStore } from '../storage/object-store.js';
import { ContainerDials } from './container-dials.js';
import { dockerHostOf } from './docker-host-of.js';
import { kubernetesHostOf } from './kubernetes-host-of.js';

/** Where containers run. All else knows `ContainerHost` alone. */
@Module({
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
    {
      provide: ContainerHost,
      useFactory: (
        config: Config,
        docker: DockerClient,
        documents: Documents,
        objects: ObjectStore,
        servers: LiveServers,
      ) => {
        const others = () => servers.otherIds();
        return config.kubernetes
          ? kubernetesHostOf(config, config.kubernetes, { documents, objects, others })
          : dockerHostOf(config, docker, others);
      },
      inject: [Config, DockerClient, Documents, ObjectStore, LiveServers],
    },
    ContainerDials,
  ],
  exports: [ContainerDials, ContainerHost],
})
export class ContainersModule {}
