import type { ServiceHealthcheck } from '@belay/containers';
import { z } from 'zod';
import type { Entry } from './entries.js';
import type { PythonSetup } from './repository-spec.js';

/**
 * The source of a task's image: a name, a toolchain, a build context or a repository. `published` is
 * the image that the authors built from the context; if the engine has it, it is used.
 */
export type ImageSource =
  | { kind: 'image'; name: string }
  | { kind: 'toolchain'; name: ToolchainName }
  | {
      kind: 'build';
      files: Entry[];
      published?: string;
      args?: Record<string, string>;
      /** A stage of the Dockerfile; its last one if absent. */
      target?: string;
    }
  | TaskRepository;

/** A repository at a commit: an image by the format's authors, or one built from a local clone. */
export interface TaskRepository {
  kind: 'repository';
  image: string | null;
  repo: string;
  commit: string;
  /** The version of Node.js that its packages and tests need. */
  node: string | null;
  /** How a repository in Python is installed. */
  python?: PythonSetup | null;
  /** Requirements that this harness does not build. */
  needs?: string | null;
}

export const toolchainName = z.enum(['base', 'numpy', 'javascript', 'java', 'cpp', 'go', 'rust']);
export type ToolchainName = z.infer<typeof toolchainName>;

/**
 * `none` has no network interface; `bridge` is for tasks that request one, and only if the run
 * allows it. `hosts` are reached through the egress proxy.
 */
export type TaskNetwork = 'none' | 'bridge' | { hosts: string[] };

export interface TaskEnvironment {
  image: ImageSource;
  cpus: number;
  memoryMb: number;
  /** The working folder; null for the image's own. */
  workdir: string | null;
  env: Record<string, string>;
  network: TaskNetwork;
  /**
   * Checks the service that the image's entrypoint starts; the command waits until it is healthy.
   */
  healthcheck?: Healthcheck;
  /** Run beside the agent's container, in this order. */
  services?: Service[];
  /** What must be ready before the agent starts. */
  needs?: ServiceNeeds;
}

/** By service: it has been started, is healthy, or has ended with exit code 0. */
export type ServiceNeeds = Record<string, 'started' | 'healthy' | 'completed'>;

/** A program beside the agent's container, such as a database. Null stands for the image's own. */
export interface Service {
  name: string;
  /** The host names by which the others reach it, including its own name. */
  hosts: string[];
  image: ImageSource;
  entrypoint: string[] | null;
  command: string[] | null;
  env: Record<string, string>;
  user: string | null;
  workdir: string | null;
  /** By absolute path. */
  files: Entry[];
  /** In Docker's form, with `test` as in a HEALTHCHECK; times in seconds. */
  healthcheck: ServiceHealthcheck | null;
  /** What must be ready before it starts. */
  needs: ServiceNeeds;
  cpus: number;
  memoryMb: number;
}

/** Docker's HEALTHCHECK, in seconds; failures within the start period do not count. */
export interface Healthcheck {
  command: string;
  interval: number;
  timeout: number;
  startPeriod: number;
  startInterval: number;
  retries: number;
}

/** Time limits in seconds; the container is killed when one is reached. */
export interface TimeLimits {
  build: number;
  agent: number;
  verify: number;
}

/**
 * How the reference solution is applied. Paths are relative to the working folder unless absolute.
 */
export type Oracle =
  | { kind: 'files'; files: Entry[] }
  | { kind: 'patch'; patch: Buffer }
  | { kind: 'script'; files: Entry[]; command: string[]; env: Record<string, string> };

/**
 * What is collected from the agent's container for the verifier; everything else is dropped. The
 * `paths` of `files` are below the working folder, and a trailing slash stands for a whole folder.
 * Those of the kind `paths` are absolute.
 */
export type ArtifactSpec =
  | { kind: 'files'; paths: string[] }
  | { kind: 'patch' }
  | { kind: 'container' }
  | { kind: 'paths'; paths: ArtifactPath[] };

/** A file or folder that is collected for a separate verifier. */
export interface ArtifactPath {
  /** Absolute. */
  path: string;
  /** Patterns of `tar --exclude` for the content of a folder. */
  exclude: string[];
  /** The service whose file it is; the agent's container if absent. */
  service?: string;
}

/** A command that runs in what an agent left, before its artifacts are read. */
export interface CollectCommand {
  files: Entry[];
  command: string[];
  seconds: number;
  /** Null for the image's own user. */
  user: string | null;
  /** The service in which it runs; the agent's container if absent. */
  service?: string;
}

/** The verifier’s output, read from the engine after its container has exited. */
export interface VerifierOutput {
  exitCode: number;
  output: string;
  /** Collected files by path; missing files are left out. */
  files: Map<string, Buffer>;
}

/**
 * The key in `files` for the proof that replaced `{proof}` in the command, the environment and
 * paths. Its hash, which replaced `{proof-hash}` in the first two, may be shown to tested code.
 */
export const proofFile = '{proof}';

export interface Verifier {
  /** An image other than the task's own, for formats that declare one. */
  environment?: TaskEnvironment;
  /** Hidden tests and scripts, by absolute path; they replace existing files. */
  files: Entry[];
  /** New, empty folders that only the verifier can write to. */
  folders: string[];
  command: string[];
  /**
   * Whether to add the verification’s key for a runner's plugin, as described in suites/seal.ts.
   */
  sealed?: boolean;
  env: Record<string, string>;
  user: string | null;
  /** A network other than that of its environment. */
  network?: TaskNetwork;
  /**
   * The verification’s files as environment variables, because an archive costs the engine two
   * mounts; null if they are too long for that.
   */
  inline?(carried: Entry[]): Record<string, string> | null;
  /** Files to read once the container has ended. */
  collect: string[];
  judge(output: VerifierOutput): Verdict;
  /**
   * A second run after a pass, for formats whose tested code runs alongside its tests: in another
   * order, with another seed and with additional tests that must fail. `word` is an identifier that
   * no test contains, and `tests` are the names of those that the reference passes, if known.
   */
  check?(word: string, tests: string[]): SecondRun;
  /**
   * The same tests, a sample of which expect something wrong, so that right answers must fail them;
   * null if none can be changed.
   */
  withWrongTests?(): Verifier | null;
}

export interface SecondRun {
  verifier: Verifier;
  /** How many tests with `word` in their names must fail. */
  decoys: number;
  /** A part of the names of those tests with `word` that must pass. */
  honest: string | null;
}

export interface Step {
  name: string;
  instruction: string;
  /** Files that the harness puts into the working folder before the step. */
  files: Entry[];
  oracle: Oracle;
  /** In their order; a command that fails does not end the trial. */
  collect?: CollectCommand[];
  verifier: Verifier;
  limits: TimeLimits;
  /** A script among `files` that runs before the agent, if it exists. */
  setup?: string;
  /** Must succeed after the setup, before the agent starts. */
  healthcheck?: Healthcheck;
  /** Minimum rewards by key; a lower reward, or a missing key, ends the trial. */
  minReward: Record<string, number> | null;
}

export interface Task {
  suite: string;
  id: string;
  environment: TaskEnvironment;
  /** The user that runs the agent; null for the image's own. */
  user: string | null;
  artifacts: ArtifactSpec;
  /** Most formats have one. The container's state is kept between steps. */
  steps: Step[];
  scoring: 'mean' | 'final';
  /** Tries with the test output shown in between (Aider's protocol has two). */
  tries: number;
  /** The tests that decide the verdict, where the format names them. */
  tests?: { FAIL_TO_PASS: string[]; PASS_TO_PASS: string[]; type: 'pass_and_fail' | 'fail_only' };
  /** Why the task cannot be run here, in one sentence. */
  unsupported?: string | null;
  /** Set if its own file cannot be read; `unsupported` has the reason. */
  broken?: true;
  /** Labels for reports, such as its language or category. */
  labels?: Record<string, string>;
  /** The record of a task in Harbor's format. */
  package?: TaskPackage;
  /** A hash over everything that affects the verdict: environment, tests, solution, limits. */
  content: string;
}

/** How Harbor identifies a task and its content. */
export interface TaskPackage {
  /** The task's folder; for packed data the folder that it would have. */
  folder: string;
  /** In the form `org/name`, if the task has one. */
  name: string | null;
  version: string | null;
  /** The hash of the files that a package contains, with the prefix `sha256:`. */
  digest: string;
  /** The Dirhash of the whole folder. */
  checksum: string;
}

export type Cause =
  | 'wrong'
  | 'empty_patch'
  | 'patch_refused'
  | 'unsupported'
  | 'build_failed'
  | 'agent_timeout'
  | 'agent_failed'
  | 'verifier_timeout'
  | 'no_result'
  | 'infrastructure';

/**
 * The task needs something that this harness or agent does not support. Its message is one
 * sentence.
 */
export class Unsupported extends Error {}

/**
 * `invalid` means that the trial does not measure the agent; it counts as 0 and is shown
 * separately.
 */
export interface Verdict {
  outcome: 'pass' | 'fail' | 'invalid';
  cause: Cause | null;
  /** From 0 to 1 where a format has partial rewards; else 1 or 0. */
  reward: number;
  rewards?: Record<string, number>;
  /** One sentence for the user. */
  detail: string;
  /** Results by test id, where the format names tests. */
  tests?: Record<string, string>;
  /** For a pass: suspicious findings of a second, independent check. */
  flags?: string[];
}

export const pass = (detail = 'The tests passed.', more: Partial<Verdict> = {}): Verdict => ({
  outcome: 'pass',
  cause: null,
  reward: 1,
  detail,
  ...more,
});

export const fail = (detail: string, cause: Cause = 'wrong', more = {}): Verdict => ({
  outcome: 'fail',
  cause,
  reward: 0,
  detail,
  ...more,
});

export const invalid = (cause: Cause, detail: string): Verdict => ({
  outcome: 'invalid',
  cause,
  reward: 0,
  detail,
});

/** One line of results.jsonl. */
export interface Trial {
  key: string;
  suite: string;
  task: string;
  attempt: number;
  agent: string;
  model: string | null;
  verdict: Verdict;
  /** The verdict of each try, for protocols with more than one. */
  tries?: Verdict[];
  steps?: { name: string; verdict: Verdict }[];
  session: string | null;
  /** Where its containers were, which decided the verdict; absent in runs of older versions. */
  place?: string;
  /** Where the sandbox of its session was. */
  sessionPlace?: string;
  /** The task's image; absent if it could not be built. */
  image?: { name: string; id: string };
  tokens: number;
  dollars: number;
  seconds: { build: number; agent: number; verify: number };
  started: string;
}
