export {
  ContainerHost,
  type ContainerSpec,
  type SeenState,
  type DialIn,
  type Labels,
  type Limits,
  type Look,
  type OthersAlive,
  type ProgramSpec,
  type Seen,
  type ServiceSpec,
  type SharedFolder,
} from './container-host.js';
export {
  ProgramContainer,
  type ProgramEnd,
  type ProgramServices,
  type RunningProgram,
} from './program-container.js';
export { agentPortOf, agentUrl } from './kubernetes/agent-url.js';
export { defaultNamespace } from './kubernetes/default-namespace.js';
export {
  clusterClassName,
  podScheduling,
  type PodScheduling,
} from './kubernetes/pod-scheduling.js';
export { checkCluster, openKubernetes, removeLeftPods } from './kubernetes/open-kubernetes.js';
export type { CertifiedKey } from './kubernetes/agent-authority.js';
export type { ImageFiles } from './kubernetes/made-images.js';
export type { KubernetesHostOptions } from './kubernetes/kubernetes-host.js';
export { followHost, type HostFollower } from './follow-host.js';
export { RemoteHost, type HostConnection } from './remote/remote-host.js';
export { ServedHost, type ServedHostOptions } from './remote/served-host.js';
export { ProgramTasks } from './program-tasks.js';
export { runsTasks } from './runs-tasks.js';
export { RemoteTasks } from './remote/remote-tasks.js';
export { ServedTasks, type ServedTasksOptions } from './remote/served-tasks.js';
export {
  TaskEngine,
  TaskHost,
  type BuildOptions,
  type FoundImage,
  type NamedImage,
  type ServiceHealthcheck,
  type TaskContainer,
  type TaskCapacity,
  type TaskExit,
  type TaskNeed,
  type ContainerNetwork,
  type TaskSpec,
} from './task-host.js';
export { DockerTasks } from './docker/docker-tasks.js';
export { withLocalImages } from './docker/dockerfile.js';
export { DockerHost } from './docker/docker-host.js';
export { isConflict, isGone } from './docker/errors.js';
export { hosts, labels } from './docker/container-spec.js';
export type { ContainerCreateOptions } from 'dockerode';
export { DockerClient, type CommittedImage, type FoundContainer } from './docker/docker.client.js';
export type { EngineAgent } from './docker/engine-agent.js';
export type { EngineEvent } from './docker/engine-events.js';
export type { Exit } from './exit-reason.js';
