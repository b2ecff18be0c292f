import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Check, SandboxProfile } from '@belay/protocol';

export type Labels = Readonly<Record<string, string>>;

/** The resources of a container; it gets no more processors than its host has. */
export interface Limits {
  memoryMb: number;
  cpus: number;
}

/** A folder of the host, with the identity that it had when it was checked; its path may lead elsewhere later. */
export interface SharedFolder {
  /** Its path on the host, without links. */
  folder: string;
  /** Its path in the container. */
  path: string;
  readOnly: boolean;
  device: bigint;
  inode: bigint;
}

/** Files that the host keeps under a name of their own, for several containers. */
export interface KeptFiles {
  name: string;
  path: string;
  /** Those that are not read-only are made when they do not exist yet, for the programs’ user. */
  readOnly: boolean;
}

export interface HostKeptFiles {
  /** Fills new files from a tar, in the place of those of this name. After a failure, nothing is left. */
  fill(name: string, tar: Readable): Promise<void>;
  /** Does nothing for files that do not exist. No container may use them any more. */
  remove(name: string): Promise<void>;
  /** Removes all others that `fill` made, also what an earlier process did not finish. */
  keepOnly(names: readonly string[]): Promise<void>;
}

/** A small file that no program of the container can change. */
export interface PlacedFile {
  path: string;
  text: string;
}

export interface ContainerSpec {
  /** Ours, and never used twice: the container is only known by it. */
  id: string;
  /** Names it for people, where the host can. */
  label: string;
  labels: Labels;
  image: string;
  rights: SandboxProfile;
  limits: Limits;
  /** Nothing secret: programs of the container read it. */
  env: Readonly<Record<string, string>>;
  /** Names what is kept of `/workspace` and `/var/lib/belay` when the container is gone; made if there is none. */
  files: string;
  /** None unless the host `can` share folders. */
  folders: readonly SharedFolder[];
  keptFiles: readonly KeptFiles[];
  placedFiles: readonly PlacedFile[];
}

/** A container beside a program, on the same loopback, which begins with its image’s own entry. */
export interface ServiceSpec {
  /** Leads to the loopback, for the program and all services. */
  name: string;
  image: string;
  /** The image’s own when undefined. */
  command: readonly string[] | undefined;
  env: Readonly<Record<string, string>>;
  limits: Limits;
}

/**
 * A container for programs of others. The starter begins in it, dials in and runs what it is told to: `programCalls`.
 * Nothing of the image runs before that, and nothing of the container is kept.
 */
export interface ProgramSpec {
  /** Ours, and never used twice: the container is only known by it. */
  id: string;
  /** Names it for people, where the host can. */
  label: string;
  labels: Labels;
  image: string;
  /**
   * Programs have no rights and change nothing of the image. Those of a `build` are root, with the rights that packages
   * need.
   */
  rights: 'program' | 'build';
  /** The id of the user and the group of programs. */
  user: number;
  /** Of the programs: what the starter needs is added. */
  limits: Limits;
  /** Empty folders in memory, which belong to `user`. */
  scratch: readonly { path: string; mb: number; readOnly?: boolean }[];
  /** The workspace of another container’s `files`, at `/workspace`. Throws `not_found` when there are none. */
  workspace: { files: string; readOnly: boolean } | null;
  /** None unless the host `can` share folders. */
  folders: readonly SharedFolder[];
  /** Removed with the container. They share its loopback; two on one port cannot both listen. */
  services: readonly ServiceSpec[];
  /** Unpacked over the image before anything runs, with owners and modes; null for nothing. */
  archive: Buffer | null;
  /** What each service, or a build, may write to its image’s files: beyond it, the container ends. */
  writtenMb: number;
}

/** An image to be made, and what begins in it by itself. */
export interface NewImage {
  /** Its name, with a tag. */
  name: string;
  entrypoint: readonly string[];
  /** As in `user:group`. */
  user: string;
}

/** `waiting` has not run yet; `ended` has run, and can be looked at until it is removed. */
export type SeenState = 'waiting' | 'running' | 'ended' | 'gone';

export interface Seen {
  id: string;
  state: SeenState;
  /** The id of the server that made it, for a host that several servers share. */
  server?: string;
  /** Its name for people, for a running container of a host that knows it. */
  label?: string;
}

/** A connection that a container’s first program has dialled: a request to upgrade, which nobody has answered yet. */
export interface DialIn {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** Where a container is, and for one that does not run why: in a sentence, and where callers decide by it. */
export interface Look {
  state: SeenState;
  why: string | null;
  cause: 'memory' | 'written' | null;
}

/** The ids of the other servers that share a host and are alive, as in `labels.server`; asked again at each use. */
export type OthersAlive = () => Promise<ReadonlySet<string>>;

/** What not every host can do. */
export interface Can {
  /** Whether containers may have folders of the host. */
  folders: boolean;
  /** Whether containers dial over sockets of this machine, of which none is half-open. */
  local: boolean;
  /** Whether images can be made of what a container has written. */
  images: boolean;
}

/** Images, without running anything of them. */
export interface HostImages {
  /** Changes with the content of the image that has this name; undefined for one that is not there. */
  id(image: string): Promise<string | undefined>;
  /** Whether a container can begin without fetching the image, as far as that is known without running anything. */
  has(image: string): Promise<boolean>;
  /** The first of these paths that an image has. Fetches a missing image. */
  firstPath(image: string, paths: readonly string[]): Promise<string | undefined>;
  /** Fetches a missing image; whether it was missing. Throws `not_found`. */
  fetch(image: string): Promise<boolean>;
  /**
   * Makes an image of a container’s files once it has ended; returns the image’s id. Throws `unavailable` unless the host
   * `can` do so.
   */
  make(id: string, image: NewImage): Promise<string>;
  /** The id of what `make` made with this name. */
  madeAs(name: string): Promise<string | undefined>;
  /** The ids of all that `make` made, also of what it did not finish. */
  made(): Promise<string[]>;
  /** Removes an image with all its names; does nothing for one that is not there. */
  remove(image: string): Promise<void>;
  /** Removes a name, and the image with its last one. False while a container needs it. */
  release(name: string): Promise<boolean>;
}

/**
 * Where containers run. A container is not talked to through its host: its first program dials out, to `onDial`, and
 * serves calls there, so no host needs to run or attach to anything in a container that already runs.
 *
 * Methods throw `AppError` with one sentence, `unavailable` while the host cannot be asked. What they did not finish can
 * be repeated, or be undone by `remove` and `removeFiles`. A class, so that it can be injected by its type.
 */
export abstract class ContainerHost {
  /** For people. */
  abstract readonly name: string;
  abstract readonly can: Can;
  abstract readonly images: HostImages;
  abstract readonly keptFiles: HostKeptFiles;
  /** Paths of this machine that would give a container power over its host. */
  abstract readonly closedPaths: readonly string[];

  /** Whether the host can run containers, and what is missing; the first one is whether it responds. */
  abstract checks(): Promise<Check[]>;

  /** What containers reach of a network, tried from inside of one; takes seconds. Empty where they have no network. */
  async confinement(): Promise<Check[]> {
    return [];
  }

  /** Whether `files` stay when their container is removed; otherwise `hasFiles` is false then. */
  get keepsFiles(): boolean {
    return true;
  }

  /** A sentence for sessions about what their containers reach although they should not; null for nothing. */
  get caution(): string | null {
    return null;
  }

  /**
   * Makes a container and its files. That it resolves means the host accepted it: its dial or `watch` say how it goes
   * on. Repeated with the same id, it does nothing more. Throws the signal’s reason when that aborts, `not_found` for an
   * image that cannot be fetched, `forbidden` for a folder that was exchanged, and `disk_full`.
   */
  abstract start(spec: ContainerSpec, signal: AbortSignal): Promise<void>;

  /**
   * Makes a container for programs, with its services. That it resolves means the host accepted it; its dial tells when
   * programs can run. What was made before a failure is removed by `remove`. Throws like `start`.
   */
  abstract startProgram(spec: ProgramSpec, signal: AbortSignal): Promise<void>;

  /** Called with each connection that a container of `start`, `startProgram` or `adopt` dials, also again after a break. */
  abstract onDial(listener: (id: string, dial: DialIn) => void): void;

  /** Admits the dials of a running container that an earlier process started. */
  abstract adopt(id: string): Promise<void>;

  /**
   * All containers of this owner, then `synced`, then those that end or go, in order for each. Returns when the signal
   * aborts or the host goes away: subscribe again, since changes in between are not reported. The host’s own remains of
   * an earlier process are removed before `synced`, unless they are of another server that is alive.
   */
  abstract watch(signal: AbortSignal): AsyncIterable<Seen | 'synced'>;

  /** The state of a container. */
  abstract look(id: string): Promise<Look>;

  /** Changes its name for people, where the host can. */
  abstract rename(id: string, label: string): Promise<void>;

  /**
   * The DevTools address of a browser, on the loopback of a container whose image has none; the same one as long as it
   * runs. Throws `unavailable` without such a browser.
   */
  abstract browser(id: string): Promise<string>;

  /** Whether `browser` was called for this container. */
  abstract hasBrowser(id: string): Promise<boolean>;

  /**
   * Kills and removes a container with its browser, its services and its connections; waits for a start that is under way.
   * One on a node that is lost may run on there: it is not admitted any more, and nothing else gets its files.
   */
  abstract remove(id: string): Promise<void>;

  /** Whether the workspace of these `files` is there for a container: not while it is on a node of the host that is lost. */
  abstract hasFiles(files: string): Promise<boolean>;

  /**
   * The names of all `files`, except of those that another server made that is alive; also of those that were not removed
   * completely.
   */
  abstract storedFiles(): Promise<string[]>;

  /** Does nothing for files that do not exist. No container may use them any more. */
  abstract removeFiles(files: string): Promise<void>;

  /** Ends all connections and admits no more. Containers go on. */
  abstract close(): Promise<void>;
}
