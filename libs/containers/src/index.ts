export {
  ContainerHost,
  type Can,
  type ContainerSpec,
  type SeenState,
  type DialIn,
  type HostImages,
  type HostKeptFiles,
  type KeptFiles,
  type Labels,
  type Limits,
  type Look,
  type NewImage,
  type PlacedFile,
  type ProgramSpec,
  type Seen,
  type ServiceSpec,
  type SharedFolder,
} from './container-host.js';
export { followHost, type HostFollower } from './follow-host.js';
export { DockerHost, type DockerHostOptions } from './docker/docker-host.js';
export {
  dockerError,
  isConflict,
  isGone,
  isNameTaken,
  isNotFound,
  pullFailed,
} from './docker/errors.js';
export { containerName, hosts, labels } from './docker/container-spec.js';
export type { ContainerCreateOptions } from 'dockerode';
export { DockerClient, type CommittedImage, type FoundContainer } from './docker/docker.client.js';
export type { EngineAgent } from './docker/engine-agent.js';
export type { EngineEvent } from './docker/engine-events.js';
export type { Exit } from './docker/exit-reason.js';
export { containerOutput } from './docker/container-output.js';
