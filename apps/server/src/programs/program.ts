import type { Writable } from 'node:stream';
import type { OutputPiece } from '@belay/rpc';

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

/** How a program ended, as far as it is known. */
export interface ProgramEnd {
  code?: number;
  outOfMemory?: boolean;
  /** Its container wrote more than it may, and was removed. */
  wroteTooMuch?: boolean;
}

export interface RunningProgram {
  readonly input: Writable;
  /** The program’s untrusted output; ends when the program has ended. */
  readonly output: AsyncIterable<OutputPiece>;
  /** Resolves when the program has ended and its container is removed, unless it is kept. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Closes its input, waits a moment, then kills it; resolves like `ended`. */
  stop(): Promise<ProgramEnd>;
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
