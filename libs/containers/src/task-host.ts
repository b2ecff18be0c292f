import type { Readable } from 'node:stream';

/** When a service counts as healthy, in seconds; as in a Dockerfile. */
export interface ServiceHealthcheck {
  test: string[];
  interval: number;
  timeout: number;
  startPeriod: number;
  retries: number;
}

/** Where a task’s network is. */
export interface ContainerNetwork {
  /** The last one is the network of another container, by its id. */
  network: 'none' | 'bridge' | `container:${string}`;
  /** Names that lead to its own loopback address. */
  hosts?: string[];
}

export interface TaskSpec extends ContainerNetwork {
  /** The id of the run that the container belongs to. */
  run: string;
  image: string;
  /** Null for the image's own. */
  command: string[] | null;
  /** None if absent; null for the image's own. */
  entrypoint?: string[] | null;
  user: string | null;
  workdir: string | null;
  env: Record<string, string>;
  cpus: number;
  memoryMb: number;
  healthcheck?: ServiceHealthcheck | null | undefined;
  /** A tar that is unpacked over the image, with owners and modes. */
  archive: Buffer;
}

/** The state of a started container. Without a healthcheck, its health is null. */
export interface TaskState {
  running: boolean;
  exitCode: number;
  health: 'starting' | 'healthy' | 'unhealthy' | null;
}

export interface TaskExit {
  exitCode: number;
  timedOut: boolean;
}

export interface ContainerChange {
  path: string;
  kind: 'modified' | 'added' | 'removed';
}

/** The container of a benchmark’s task, from its creation to its removal. Its creator removes it. */
export interface TaskContainer {
  readonly id: string;
  /**
   * Starts it and waits until it exits. After `seconds`, or when the signal is aborted, the whole container is killed,
   * including background processes and those that ignore signals. Rejects when the signal is aborted.
   */
  run(seconds: number, signal: AbortSignal): Promise<TaskExit>;
  start(): Promise<void>;
  state(): Promise<TaskState>;
  /** The end of what it has printed so far. */
  tail(lines: number): Promise<string>;
  /**
   * Runs a command beside the container's own program. After `seconds` it is left to itself, and counts as timed out.
   */
  exec(
    command: string[],
    options: { user: string | null; seconds: number; signal: AbortSignal },
  ): Promise<TaskExit & { output: string }>;
  /** At least the last 32 MB of the standard output and error of an ended container, in order. */
  output(): Promise<string>;
  /** A tar of a file, or of a folder with its content; undefined if it does not exist. Paths are absolute. */
  archiveOf(path: string): Promise<Readable | undefined>;
  /** The differences from the image. Folders that only contain a change are listed as modified, too. */
  changes(): Promise<ContainerChange[]>;
  /** Fine when it is gone. */
  remove(): Promise<void>;
}

export interface FoundImage {
  id: string;
  workdir: string;
  user: string;
  entrypoint: string[];
}

export interface BuildContext {
  /** A tar with all files of the build. */
  archive: Buffer;
  /** The text of its Dockerfile. */
  dockerfile: string;
}

export interface BuildOptions {
  signal: AbortSignal;
  args?: Record<string, string> | undefined;
  /** A stage of the Dockerfile; its last one if absent. */
  target?: string | undefined;
  /** Without a network. */
  offline?: boolean;
}

/** An image of an engine: its id says what is in it. */
export type NamedImage = Pick<FoundImage, 'id'> & { name: string };

/** What the places of some tasks do not have. */
export type TaskNeed = 'network' | 'services';

/** What tasks may use together, and what none of them gets. */
export interface TaskCapacity {
  cpus: number;
  memoryMb: number;
  lacks: TaskNeed[];
}

/**
 * Where tasks of benchmarks run. Unlike containers of a `ContainerHost`, theirs are untrusted as a whole: nothing of ours
 * that they could change runs in them, so that they are as their benchmark made them, and what they leave is compared
 * outside.
 */
export abstract class TaskHost {
  /** Processors and memory available to trials. */
  abstract capacity(): Promise<TaskCapacity>;

  /** Makes an image of an engine usable here by its name. Fine if it is. */
  abstract provide(image: NamedImage, from: TaskEngine, signal: AbortSignal): Promise<void>;

  /** Creates a hardened container with its files, without starting it. */
  abstract create(spec: TaskSpec): Promise<TaskContainer>;

  /**
   * Removes the run’s containers when this process has ended, even by a kill; the returned function cancels that.
   */
  abstract guard(run: string): () => void;

  /** Removes an ended container in the background. If this fails, `sweep` removes it. */
  abstract discard(container: TaskContainer): void;

  /** An ended container’s state as an image without a name; `forget` removes it. */
  abstract snapshot(container: TaskContainer): Promise<string>;

  /** Fine for an image that is gone, or that a running container uses. */
  abstract forget(image: string): Promise<void>;

  /** Removes containers left by a killed run, and waits for pending removals; returns how many there were. */
  abstract sweep(run: string): Promise<number>;
}

/** A host that also makes images: this machine’s engine. */
export abstract class TaskEngine extends TaskHost {
  /** Its name and version, for people. */
  abstract version(): Promise<string>;

  abstract image(name: string): Promise<FoundImage | undefined>;

  /** The newest image of a repository, such as the sandbox image that the platform has built. */
  abstract newest(repository: string): Promise<string | undefined>;

  /** Throws with the end of the build's log. */
  abstract build(tag: string, context: BuildContext, options: BuildOptions): Promise<void>;

  /** A tar archive of an image, for another engine’s `load`. */
  abstract save(image: string): Promise<Readable>;

  /**
   * Adds the image of an archive with this name and no other, whatever the archive names. Throws `invalid_input` for an
   * archive that is none of one image.
   */
  abstract load(tag: string, archive: Readable): Promise<void>;

  /** The id of a session's running container, if it is on this host. */
  abstract containerOfSession(session: string): Promise<string | undefined>;
}
