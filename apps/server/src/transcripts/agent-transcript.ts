import type { TranscriptFile } from '@belay/protocol';

/** One entry of a conversation that a program keeps in its own file; `time` is ISO 8601, or null if it is unknown. */
export type TranscriptItem = { time: string | null } & (
  | { kind: 'user'; text: string }
  | { kind: 'assistant'; text: string }
  /** A call of one of the program’s tools, by the name that its model knows. */
  | { kind: 'call'; id: string; tool: string; input: Record<string, unknown> }
  | { kind: 'result'; id: string; text: string; ok: boolean }
);

/** What was read from a program’s file. */
export interface AgentTranscript {
  items: TranscriptItem[];
  /** The folder that the program worked in. */
  cwd: string | null;
  /** The lines that could not be read or are of an unknown kind. */
  skipped: number;
}

/** Where a new file is to be resumed, and when it was begun. */
export interface TranscriptTarget {
  id: string;
  /** The absolute path of the folder. */
  cwd: string;
  now: Date;
}

/** The format of the files in which a program keeps its conversations. */
export interface TranscriptFormat {
  /** Reads a file, which may contain anything. Thoughts, signatures and encrypted content are dropped. */
  read(text: string): AgentTranscript;
  /** Writes items in an order that `pairedItems` gives. */
  write(items: readonly TranscriptItem[], target: TranscriptTarget): TranscriptFile;
  /** The call of the program’s shell with a command. */
  shell(command: string): { tool: string; input: Record<string, unknown> };
}

/** A name that all providers accept for a tool. */
export const writtenToolName = (name: string): string =>
  name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'tool';
