import { z } from 'zod';
import type { Entry } from './entries.js';
import type { PythonSetup } from './repository-spec.js';

/** Where a task runs: an image by name, or a build context. */
export type ImageSource =
  | { kind: 'image'; name: string }
  | { kind: 'toolchain'; name: ToolchainName }
  | { kind: 'build'; files: Entry[] }
  | TaskRepository;

/** A repository at a commit: in an image of the format's makers, or out of a local clone with its packages. */
export interface TaskRepository {
  kind: 'repository';
  image: string | null;
  repo: string;
  commit: string;
  /** The version of Node.js that its packages and tests need. */
  node: string | null;
  /** How a repository in Python is installed. */
  python?: PythonSetup | null;
  /** What its environment has that is not built here. */
  needs?: string | null;
}

export const toolchainName = z.enum(['base', 'numpy', 'javascript', 'java', 'cpp', 'go', 'rust']);
export type ToolchainName = z.infer<typeof toolchainName>;

export interface TaskEnvironment {
  image: ImageSource;
  cpus: number;
  memoryMb: number;
  /** The working folder; null is the image's own. */
  workdir: string | null;
  env: Record<string, string>;
  /** `none` has no network card; `bridge` is for tasks that say they need one, and only when a run allows it. */
  network: 'none' | 'bridge';
  /** What the image's own entrypoint brings up, and is waited for. */
  healthcheck?: Healthcheck;
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

/** Time limits in seconds; at each one the container is killed. */
export interface TimeLimits {
  build: number;
  agent: number;
  verify: number;
}

/** How the reference solution is put in place. Paths are relative to the working folder unless absolute. */
export type Oracle =
  | { kind: 'files'; files: Entry[] }
  | { kind: 'patch'; patch: Buffer }
  | { kind: 'script'; files: Entry[]; command: string[]; env: Record<string, string> };

/**
 * What is collected from the agent's container for the verifier; everything else is dropped. Paths of `files` are below the working folder; one that ends with a slash is a folder with
 * all in it. Those of `paths` are absolute.
 */
export type ArtifactSpec =
  | { kind: 'files'; paths: string[] }
  | { kind: 'patch' }
  | { kind: 'container' }
  | { kind: 'paths'; paths: string[] };

/** What the verifier left, read from the engine after its container has exited. */
export interface VerifierOutput {
  exitCode: number;
  output: string;
  /** Collected files by path; what is not there is missing. */
  files: Map<string, Buffer>;
}

/** Under this name `files` has the proof that replaced `{proof}` in the command, the environment and paths. */
export const proofFile = '{proof}';

export interface Verifier {
  /** Another image than the task's own, for formats that declare one. */
  environment?: TaskEnvironment;
  /** Hidden tests and scripts, by absolute path; they replace what is there. */
  files: Entry[];
  /** Folders that are new, empty and writable for the verifier alone. */
  folders: string[];
  command: string[];
  /** Puts the key of this verification where a runner's plugin takes it, as suites/seal.ts says. */
  sealed?: boolean;
  env: Record<string, string>;
  user: string | null;
  /**
   * Everything the verification needs as variables, instead of files, whose archive costs the engine two mounts;
   * null when it is too long for that.
   */
  inline?(carried: Entry[]): Record<string, string> | null;
  /** Files to read once the container has ended. */
  collect: string[];
  judge(output: VerifierOutput): Verdict;
  /**
   * A second run for a pass, where the tested code is beside its tests: another order and seed, among tests that must
   * fail. `word` is an identifier that no test has.
   */
  check?(word: string): SecondRun;
}

export interface SecondRun {
  verifier: Verifier;
  /** How many tests with the word in their names must fail. */
  decoys: number;
  /** In the names of those with the word that must pass. */
  honest: string | null;
}

export interface Step {
  name: string;
  instruction: string;
  /** Files that the harness puts into the working folder before the step. */
  files: Entry[];
  oracle: Oracle;
  verifier: Verifier;
  limits: TimeLimits;
  /** A script among `files` that is run before the agent, if it is there. */
  setup?: string;
  /** Waited for after the setup. */
  healthcheck?: Healthcheck;
  /** By key; a reward below, or a key that is missing, ends the trial. */
  minReward: Record<string, number> | null;
}

export interface Task {
  suite: string;
  id: string;
  environment: TaskEnvironment;
  /** The user that the agent works as; null is the image's own. */
  user: string | null;
  artifacts: ArtifactSpec;
  /** One for most formats. The container is kept between steps. */
  steps: Step[];
  scoring: 'mean' | 'final';
  /** Tries with the test output shown in between (Aider's protocol has two). */
  tries: number;
  /** The tests that decide, where the format names them. */
  tests?: { FAIL_TO_PASS: string[]; PASS_TO_PASS: string[]; type: 'pass_and_fail' | 'fail_only' };
  /** Why it cannot be run here, in one sentence. */
  unsupported?: string | null;
  /** Its own file cannot be read, as `unsupported` says. */
  broken?: true;
  /** What it is reported by, such as its language or category. */
  labels?: Record<string, string>;
  /** The format’s own name for the content of the task’s folder. */
  checksum?: string;
  /** Hash over all that decides the verdict: environment, tests, solution, limits. */
  content: string;
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

/** The task asks for what this harness or this agent does not do. Its message is one sentence. */
export class Unsupported extends Error {}

/** `invalid` says that the trial tells nothing about the agent; it counts as 0 and is shown apart. */
export interface Verdict {
  outcome: 'pass' | 'fail' | 'invalid';
  cause: Cause | null;
  /** From 0 to 1 where a format has partial rewards; else 1 or 0. */
  reward: number;
  rewards?: Record<string, number>;
  /** One sentence for the user. */
  detail: string;
  /** Test ids by result, where the format names tests. */
  tests?: Record<string, string>;
  /** Of a pass: what a second, independent check found strange. */
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
  /** The image that the agent and the tests had; none when it could not be made. */
  image?: { name: string; id: string };
  tokens: number;
  dollars: number;
  seconds: { build: number; agent: number; verify: number };
  started: string;
}
