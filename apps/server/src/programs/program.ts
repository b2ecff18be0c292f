import type { Writable } from 'node:stream';
import type { OutputPiece } from '@belay/docker';

/** A program of an MCP server that runs in a container of its own. */
export interface ContainedProgram {
  /** Of the MCP server. */
  name: string;
  command: string;
  args: readonly string[];
  /** All that it is given of variables, besides those of its image. */
  env: Readonly<Record<string, string>>;
  /** Null is the image of sandboxes. */
  image: string | null;
  /** What it sees of this machine, to read. */
  folder: string | null;
  /** The hosts that it can reach. */
  hosts: readonly string[];
  /** Of one that is installed as an action: it works in `/action` of its image. */
  installed?: { memoryMb: number } | undefined;
}

/** How a program ended, as far as is known. */
export interface ProgramEnd {
  code?: number;
  outOfMemory?: boolean;
}

export interface RunningProgram {
  readonly input: Writable;
  /** What it prints, hostile; ends when the program has. */
  readonly output: AsyncIterable<OutputPiece>;
  /** Resolves when it has ended and its container is removed. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Closes its input, gives it a moment, then kills it; resolves like `ended`. */
  stop(): Promise<ProgramEnd>;
}

export interface ProgramRunner {
  /** Throws a sentence as an `AppError`; when `signal` aborts, its reason. */
  run(program: ContainedProgram, signal: AbortSignal): Promise<RunningProgram>;
}
