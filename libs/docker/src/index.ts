export { dockerError, isConflict, isGone, isNameTaken, isNotFound, pullFailed } from './errors.js';
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
} from './container-spec.js';
export {
  DockerClient,
  type CreateOptions,
  type FoundContainer,
  type NewImage,
} from './docker.client.js';
export type { EngineEvent } from './engine-events.js';
export { exitReason, type Exit } from './exit-reason.js';
export { containerOutput } from './container-output.js';
export type { ExecutedProgram, Execution } from './execution.js';
export { outputPieces, type OutputPiece } from './output-pieces.js';
