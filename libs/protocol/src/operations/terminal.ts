import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';

/** A terminal’s name; `main` is the one that is always there. */
export const terminalName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'a short name of lowercase letters, digits and dashes');

const terminal = terminalName.default('main').describe('Which terminal; opened when it is new.');

/** What ends a wait before its time. */
const until = z
  .object({
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe('A TCP port of the sandbox that accepts connections.'),
    text: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe('This text, exactly, in the output that you have not read yet.'),
  })
  .refine(({ port, text }) => port !== undefined || text !== undefined, 'a port or a text')
  .optional()
  .describe('Wait for this within `wait` instead of the end; `happened` of the result says which.');

/** Text of a terminal for a model: long output loses its middle, the bytes stay in the terminal’s log. */
export const outputText = z.object({
  text: z.string().describe('The output, escape sequences removed; long output lacks its middle.'),
  omittedBytes: z.int().nonnegative().describe('Bytes left out of the middle of `text`.'),
  from: z
    .int()
    .nonnegative()
    .describe('Offset in the terminal where this output begins, in bytes.'),
  to: z.int().nonnegative().describe('Offset in the terminal where it ends, in bytes.'),
});

/** What came of a command so far: the output of every operation that runs, types, reads or interrupts. */
export const runResult = outputText.extend({
  terminal: terminalName,
  status: z
    .enum(['exited', 'running', 'timeout', 'interrupted', 'background'])
    .describe(
      '`running`: still going, read or interrupt it; `background`: it runs in the background; `timeout`: killed after `timeout` seconds.',
    ),
  exitCode: z.int().nullable().describe('The real exit code; null while it runs or was killed.'),
  seconds: z.number().nonnegative(),
  directory: z.string().describe('Working directory of the shell afterwards.'),
  command: z
    .string()
    .optional()
    .describe(
      'The command that status, exit code and seconds are about, when the call names none.',
    ),
  happened: z
    .enum(['port', 'text', 'end', 'time', 'message'])
    .optional()
    .describe(
      'What ended the wait: the port answered, the text appeared, the command ended, `wait` was over, or the user wrote. A command that has not ended goes on.',
    ),
});
export type RunResult = z.output<typeof runResult>;

const inTerminal = {
  subject: (input: { terminal: string }) => input.terminal,
  subjectKind: 'command',
  display: 'terminal',
} as const;

export const terminalOperations = operationGroup({
  'terminal.run': defineOperation({
    title: 'Run a command',
    description:
      'Runs a command in a persistent shell: directory and variables last from call to call. Returns when the command ends, or after `wait` seconds with what it printed so far and status `running`. It then continues: do not start it again, use terminal.read, terminal.input and terminal.interrupt. Use a longer `wait` for what takes long, such as builds.',
    verb: 'run',
    risk: 'execute',
    knownAs:
      'bash sh shell exec execcommand execcmd localshell containerexec runcommand runshellcommand runinterminal runterminalcmd executecommand executebash python powershell',
    essential: true,
    input: z.object({
      command: z.string().min(1).describe('Shell source; several lines and heredocs are fine.'),
      terminal,
      wait: z
        .number()
        .positive()
        .max(3600)
        .default(30)
        .describe('Seconds to wait before returning `running`.'),
      timeout: z
        .number()
        .positive()
        .max(86_400)
        .optional()
        .describe('Seconds after which the command and all its children are killed.'),
      background: z
        .boolean()
        .default(false)
        .describe(
          'Return at once, or when `until` happens, and let it run, for servers and watchers. You are told when it ends.',
        ),
      until,
      stdin: z
        .string()
        .optional()
        .describe('Standard input of the command, from a file instead of the terminal.'),
      stdinEncoding: z.enum(['utf8', 'base64']).default('utf8'),
    }),
    output: runResult,
    // A rule for `sh` is none for what is piped into it: no star takes the line end.
    subject: ({ command, stdin }) =>
      stdin === undefined ? command : `${command}\n<stdin>\n${stdin}`,
    summary: ({ command }) => command,
    subjectKind: 'command',
    aliases: { cmd: 'command', script: 'command' },
    display: 'command',
    polls: ({ command }) => /^\s*sleep\s+[\d.]+[smh]?\s*$/.test(command),
    paths: (_, output) => directoryOf(output),
  }),
  'terminal.input': defineOperation({
    title: 'Type into a terminal',
    description:
      'Types into the program that runs in a terminal, then waits until it is quiet and returns what it printed. `keys` are named keys typed after the text.',
    risk: 'execute',
    knownAs: 'writestdin sendinput sendkeys',
    essential: true,
    input: z.object({
      terminal,
      text: z.string().default(''),
      keys: z
        .array(
          z.enum([
            'enter',
            'tab',
            'escape',
            'backspace',
            'up',
            'down',
            'left',
            'right',
            'home',
            'end',
            'page-up',
            'page-down',
            'ctrl-c',
            'ctrl-d',
            'ctrl-l',
            'ctrl-z',
          ]),
        )
        .default([]),
      wait: z
        .number()
        .min(0)
        .max(600)
        .default(2)
        .describe('Seconds to wait for an answer, at most.'),
    }),
    output: runResult,
    subject: typedText,
    subjectKind: 'command',
    display: 'terminal',
    paths: (_, output) => directoryOf(output),
  }),
  'terminal.read': defineOperation({
    title: 'Read a terminal',
    description:
      'Reads what a terminal printed: from a byte offset, or since the last result. Waits up to `wait` seconds for the running command to end, or for `until`.',
    risk: 'read',
    knownAs: 'bashoutput taskoutput readterminal getterminaloutput commandstatus',
    audience: ['model', 'user'], // What one reads as new, the agent does not read again.
    essential: true,
    input: z.object({
      terminal,
      from: z.int().nonnegative().optional(),
      limit: z.int().positive().max(200_000).default(16_000).describe('Bytes, at most.'),
      wait: z.number().min(0).max(3600).default(0),
      until,
    }),
    output: runResult,
    ...inTerminal,
    changesFiles: true, // What runs there may have.
    polls: () => true,
    paths: (_, output) => directoryOf(output),
  }),
  'terminal.interrupt': defineOperation({
    title: 'Interrupt a command',
    description:
      'Presses Ctrl-C; with `kill`, ends the running command and all its children at once.',
    risk: 'execute',
    knownAs: 'killbash killshell taskstop kill',
    essential: true,
    input: z.object({ terminal, kill: z.boolean().default(false) }),
    output: runResult,
    ...inTerminal,
    paths: (_, output) => directoryOf(output),
  }),
  'terminal.close': defineOperation({
    title: 'Close a terminal',
    description: 'Closes a terminal and everything that runs in it.',
    risk: 'execute',
    input: z.object({ terminal }),
    output: z.object({ closed: z.boolean() }),
    ...inTerminal,
  }),
  'terminal.list': defineOperation({
    title: 'List terminals',
    description: 'Lists the open terminals and what runs in each.',
    risk: 'read',
    input: z.object({}),
    output: z.object({
      terminals: z.array(
        z.object({
          terminal: terminalName,
          running: z.string().nullable().describe('The command that runs, if one does.'),
          seconds: z.number().nonnegative().nullable(),
          directory: z.string(),
          background: z
            .array(
              runResult
                .pick({ status: true, exitCode: true, seconds: true })
                .extend({ command: z.string() }),
            )
            .describe('Background commands: those that still run, and the last ones that ended.'),
          holder: z.enum(['agent', 'user']).describe('Input owner: the agent or the user.'),
          size: z.int().nonnegative().describe('Bytes printed so far.'),
          columns: z.int().positive(),
          rows: z.int().positive(),
        }),
      ),
    }),
    subjectKind: 'command',
    display: 'terminal',
    changesFiles: true, // What runs in them may have.
  }),
});

function typedText({ text, keys }: { text: string; keys: readonly string[] }): string {
  return [text, ...keys.map((key) => `<${key}>`)].join(' ').trim();
}

const directoryOf = (output?: RunResult): string[] => (output ? [output.directory] : []);
