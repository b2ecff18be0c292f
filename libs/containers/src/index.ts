export {
  dockerError,
  isConflict,
  isGone,
  isNameTaken,
  isNotFound,
  pullFailed,
} from './docker/errors.js';
export {
  agentContainer,
  containerName,
  hardened,
  hosts,
  idleContainer,
  labels,
  ownershipContainer,
  rootCapabilities,
  scratch,
  seedsVolumes,
  sidecarContainer,
  volume,
  type AgentContainer,
  type Limits,
  type SandboxVolumes,
} from './docker/container-spec.js';
export {
  DockerClient,
  type CreateOptions,
  type FoundContainer,
  type NewImage,
} from './docker/docker.client.js';
export type { EngineEvent } from './docker/engine-events.js';
export { exitReason, type Exit } from './docker/exit-reason.js';
export { containerOutput } from './docker/container-output.js';
export type { ExecutedProgram, Execution } from './docker/execution.js';
export { outputPieces, type OutputPiece } from './docker/output-pieces.js';
