import type { AgentChoice, AgentProtocol, ProgramLaunch, WireFormatName } from '@belay/protocol';
import type { TranscriptFormat } from '../transcripts/agent-transcript.js';
import type { StandIn } from '../models/wire/held-call.js';
import type { ToolMap } from './tool-map.js';

/** A C library of an image; `none` is an image in which only static programs run. */
export type CLibrary = 'glibc' | 'musl' | 'none';

/** Where a program and what it needs are in a sandbox. */
export interface ProgramPlaces {
  /** Belay's own Node, which brings its C library and runs in every image. */
  node: string;
  /** The read-only folder of the installed packages. */
  root: string;
  arch: 'x64' | 'arm64';
  clib: CLibrary;
  /** The program's folder for settings and conversations, which it may write to. */
  home: string;
}

/** The start of one session for which an entry makes settings. */
export interface AgentStart extends ProgramPlaces {
  /** The address of the gateway in the sandbox, without a path or a slash at its end. */
  gateway: string;
  token: string;
  /** The format in which the gateway speaks to the model's provider. */
  format: WireFormatName;
  /** The names of the models as their provider knows them. */
  model: string;
  small: string;
  /** Null when the program is started again in a terminal, where its user goes on. */
  task: string | null;
  /** Whether the user trusts the project's own settings of the program. */
  trusted: boolean;
}

/** Everything that is special about one agent; no other code names one. */
export interface AgentEntry {
  readonly name: string;
  readonly title: string;
  /** One sentence for people who choose an agent. */
  readonly about: string;
  /** `spdx` is null for a proprietary licence, which the admin must accept. */
  readonly licence: { readonly spdx: string | null; readonly url: string };
  /** The formats that the program speaks, the best first. */
  readonly formats: readonly WireFormatName[];
  /** How a held reply is kept alive: an event or comment of SSE that the program ignores, or an empty line. */
  readonly ping: 'ping' | 'event' | 'comment' | 'line';
  /** The protocols by which it can be driven, the best first. */
  readonly protocols: readonly AgentProtocol[];
  /** The command for a protocol; without a shell. */
  command(start: AgentStart, protocol: AgentProtocol): readonly string[];
  readonly resume: 'resume' | 'load' | null;
  /** The ACP method of authentication that only needs the environment. */
  readonly authenticate: string | null;
  newSession(trusted: boolean): ProgramLaunch['newSession'];
  env(start: AgentStart): Readonly<Record<string, string>>;
  files(start: AgentStart): ProgramLaunch['files'];
  /** Files of the system that only Belay writes; mounted read-only, so that no program can change them. */
  readonly policy: readonly { readonly path: string; readonly text: string }[];
  /** Globs of the project's files that change what the program does. */
  readonly project: readonly string[];
  /**
   * Files and folders of these at the top of the workspace that the program uses even when its settings forbid it: while
   * there are any, it starts only once the user trusts them.
   */
  readonly ignoresDistrust?: readonly string[];
  readonly tools: Readonly<Record<string, ToolMap>>;
  /** The prefix of the names that the program gives to tools of Belay's own MCP server. */
  readonly belayTools: string;
  /** The start of a program that its user signs in to, in a terminal and without the gateway; null if it has none. */
  readonly login: AgentLogin | null;
  /**
   * A call of the program's shell that prints a text and fails, to put in the place of a refused call; null if none of
   * the `offered` tools is a shell.
   */
  standIn(text: string, offered: readonly string[]): StandIn | null;
  /** The files in which the program keeps its conversations; null if they are not known. */
  readonly transcripts: {
    readonly format: TranscriptFormat;
    readonly place: NonNullable<AgentChoice['transcripts']>;
  } | null;
}

/** What differs when a program uses its user's own sign-in. The program asks for permissions itself, as nobody else does. */
export interface AgentLogin extends Pick<AgentEntry, 'env' | 'policy'> {
  command(start: AgentStart): readonly string[];
  /** The vendor's hosts that the sign-in and all calls after it need, besides those of the session. */
  readonly hosts: readonly string[];
}

/** An agent whose conversations can be moved. */
export type AgentWithTranscripts = AgentEntry & {
  readonly transcripts: NonNullable<AgentEntry['transcripts']>;
};

/** The arguments that give a program its task; none when it is started again without one. */
export const taskArguments = (
  { task }: Pick<AgentStart, 'task'>,
  argumentsFor: (task: string) => readonly string[],
): readonly string[] => (task === null ? [] : argumentsFor(task));

/**
 * An option of Node for programs that parse shell commands with tree-sitter: V8 would need 1.6 GB more for a moment to
 * optimize its WebAssembly (https://github.com/nodejs/node/issues/63421), and a sandbox has 2 GB.
 */
export const withoutOptimizedWasm = '--liftoff-only';

/** The name of Belay's MCP server in a sandbox, as programs see it. */
export const belayServer = 'belay';
