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
  type PlacedFile,
  type Seen,
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
export { containerName, hosts, labels, ownPrograms } from './docker/container-spec.js';
export {
  actionContainer,
  actionProcess,
  outputFolder,
  serviceContainer,
  type ActionContainer,
  type ActionProcess,
} from './docker/action-container.js';
export { actionBuildContainer } from './docker/action-build-container.js';
export { programContainer } from './docker/program-container.js';
export type { ContainerCreateOptions } from 'dockerode';
export { DockerClient, type FoundContainer, type NewImage } from './docker/docker.client.js';
export type { CreateOptions } from './docker/create-options.js';
export type { EngineAgent } from './docker/engine-agent.js';
export type { EngineEvent } from './docker/engine-events.js';
export type { Exit } from './docker/exit-reason.js';
export { containerOutput } from './docker/container-output.js';
export type { ExecutedProgram, Execution } from './docker/execution.js';
export { outputPieces, type OutputPiece } from './docker/output-pieces.js';
