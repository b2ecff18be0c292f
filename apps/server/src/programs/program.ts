import type { RunningProgram } from '@belay/containers';

/** A program of an MCP server that runs in a container of its own. */
export interface ContainedProgram {
  /** The MCP server’s name. */
  name: string;
  command: string;
  args: readonly string[];
  /** All variables that it gets, besides those of its image. */
  env: Readonly<Record<string, string>>;
  /** Null for the image of sandboxes. */
  image: string | null;
  /** The folder of this machine that it can read. */
  folder: string | null;
  /** The hosts that it can reach. */
  hosts: readonly string[];
  /** For a server that is installed as an action: it runs in `/action` of its image. */
  installed?: { memoryMb: number } | undefined;
}

export interface ProgramRunner {
  /** Throws an `AppError` with one sentence; when `signal` aborts, its reason. */
  run(program: ContainedProgram, signal: AbortSignal): Promise<RunningProgram>;
}

/** Without a network, a downloading program would retry for minutes. */
export const offlineVariables: Readonly<Record<string, string>> = {
  npm_config_offline: 'true',
  UV_OFFLINE: '1',
  PIP_NO_INDEX: '1',
};
