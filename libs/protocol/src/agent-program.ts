import { z } from 'zod';
import { agentProgramName, agentProtocol } from './agents.js';
import { wireFormatName } from './wire-format-name.js';

/** The port of the model gateway on the loopback of every sandbox, which the settings of programs name. */
export const gatewayPort = 46_501;

const text = z.string().max(1_000_000);

/** The credential of a program at the gateway; opaque, of one agent process alone, worth nothing elsewhere. */
export const programToken = z.string().regex(/^[\w-]{32,100}$/);

/** One way to start a program. Paths are absolute and belong to the sandbox. */
export const programLaunch = z.object({
  /** The program and its arguments; without a shell. */
  command: z.array(text).min(1).max(200),
  /** The command of later starts in a terminal, without the task; `command` if omitted. */
  again: z.array(text).min(1).max(200).optional(),
  /** Added to the environment of the sandbox's programs, whose values they replace. */
  env: z.record(z.string(), text),
  /** Written before each start, over what is there, readable by the program's user alone. */
  files: z
    .array(z.object({ path: z.string().startsWith('/'), text, executable: z.boolean().optional() }))
    .max(50),
  /** Added to the parameters of ACP's `session/new`, `session/load` and `session/resume`. */
  newSession: z.object({ _meta: z.record(z.string(), z.unknown()).optional() }),
});
export type ProgramLaunch = z.infer<typeof programLaunch>;

/** What the agent process needs to start a program of another vendor; the server makes it from the agent's entry. */
export const agentProgram = z.object({
  name: agentProgramName,
  /** Its name for people. */
  title: z.string(),
  protocol: agentProtocol,
  /** The formats of the model's provider that the program speaks. */
  formats: z.array(wireFormatName).min(1),
  token: programToken,
  /** The folder of the program's settings and conversations, kept with the sandbox's state. */
  home: z.string().startsWith('/'),
  /** Globs of workspace files that change what the program does: they count once the user trusts them. */
  project: z.array(z.string()),
  /**
   * Files and folders at the top of the workspace that the program uses even when it is told not to: while there are
   * any, it starts only once the user trusts them.
   */
  ignoresDistrust: z.array(z.string()),
  /** The start before and after the user trusts these files. */
  launches: z.object({ untrusted: programLaunch, trusted: programLaunch }),
  /** The ACP method that continues an earlier conversation; null if the program has none. */
  resume: z.enum(['resume', 'load']).nullable(),
  /** The ACP method of authentication that is used if `session/new` demands one; it must not need the user. */
  authenticate: z.string().nullable(),
  /**
   * Whether its user signs in to it: it has no gateway, and nothing that a terminal shows goes into the log, which could
   * be a credential.
   */
  login: z.boolean().optional(),
});
export type AgentProgram = z.infer<typeof agentProgram>;
