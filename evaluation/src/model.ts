import type { Healthcheck } from './engine/readiness.js';
import type { Entry } from './entries.js';

/** Where a task runs: an image by name, or a build context. */
export type ImageSource =
  | { kind: 'image'; name: string }
  | { kind: 'toolchain'; name: ToolchainName }
  | { kind: 'build'; files: Entry[] }
  | RepositorySource;

/** A repository at a commit: in an image of the format's makers, or out of a local clone with its packages. */
export interface RepositorySource {
  kind: 'repository';
  image: string | null;
  repo: string;
  commit: string;
  /** The version of Node.js that its packages and tests need. */
  node: string | null;
}

export type ToolchainName = 'base' | 'javascript' | 'java' | 'cpp';

export interface Environment {
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

/** Seconds for each clock; each one kills by container. */
export interface Limits {
  build: number;
  agent: number;
  verify: number;
}

/** How the reference solution is put in place. Paths are relative to the working folder unless absolute. */
export type Oracle =
  | { kind: 'files'; files: Entry[] }
  | { kind: 'patch'; patch: Buffer }
  | { kind: 'script'; files: Entry[]; command: string[]; env: Record<string, string> };

/** What of the agent's work reaches the verification. Everything else of its container is dropped. */
/** Paths of `files` are below the working folder; one that ends with a slash is a folder with all in it. */
export type Carried =
  | { kind: 'files'; paths: string[] }
  | { kind: 'patch' }
  | { kind: 'container' }
  | { kind: 'artifacts'; paths: string[] };

/** What a verification left: all of it read from the engine after the container has ended. */
export interface Outcome {
  exitCode: number;
  output: string;
  /** Collected files by path; what is not there is missing. */
  files: Map<string, Buffer>;
}

/** Under this name `files` has the proof that replaced `{proof}` in the command, the environment and paths. */
export const proofFile = '{proof}';

export interface Verifier {
  /** Another image than the task's own, for formats that declare one. */
  environment?: Environment;
  /** Hidden tests and scripts, by absolute path; they replace what is there. */
  files: Entry[];
  /** Folders that are new, empty and writable for the verifier alone. */
  folders: string[];
  command: string[];
  env: Record<string, string>;
  user: string | null;
  /**
   * Everything the verification needs as variables, instead of files, whose archive costs the engine two mounts;
   * null when it is too long for that.
   */
  inline?(carried: Entry[]): Record<string, string> | null;
  /** Files to read once the container has ended. */
  collect: string[];
  judge(outcome: Outcome): Verdict;
}

export interface Step {
  name: string;
  instruction: string;
  /** Files that the harness puts into the working folder before the step. */
  files: Entry[];
  oracle: Oracle;
  verifier: Verifier;
  limits: Limits;
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
  environment: Environment;
  /** The user that the agent works as; null is the image's own. */
  user: string | null;
  carries: Carried;
  /** One for most formats. The container is kept between steps. */
  steps: Step[];
  scoring: 'mean' | 'final';
  /** Tries with the test output shown in between (Aider's protocol has two). */
  tries: number;
  /** The tests that decide, where the format names them. */
  tests?: { FAIL_TO_PASS: string[]; PASS_TO_PASS: string[]; type: 'pass_and_fail' | 'fail_only' };
  /** Why it cannot be run here, in one sentence. */
  unsupported?: string | null;
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
  /** One sentence for a person. */
  detail: string;
  /** Test ids by result, where the format names tests. */
  tests?: Record<string, string>;
}

export const passed = (detail = 'The tests passed.', more: Partial<Verdict> = {}): Verdict => ({
  outcome: 'pass',
  cause: null,
  reward: 1,
  detail,
  ...more,
});

export const failed = (detail: string, cause: Cause = 'wrong', more = {}): Verdict => ({
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
  tokens: number;
  dollars: number;
  seconds: { build: number; agent: number; verify: number };
  started: string;
}
