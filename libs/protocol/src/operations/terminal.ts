import { z } from 'zod';
import { defineOperation, operationGroup } from '../operation.js';

/** A terminal’s name; `main` always exists. */
export const terminalName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'a short name of lowercase letters, digits and dashes');

const terminal = terminalName.default('main');

/** Seconds; other harnesses count milliseconds. */
const seconds = (most: number) =>
  z.number().max(most, `seconds, not milliseconds: at most ${most}`);

const keyName =
  /^(enter|tab|escape|backspace|delete|insert|up|down|left|right|home|end|page-?(up|down)|f([1-9]|1[0-2])|ctrl[-+][a-z])$/;

/** What ends a wait early. */
const until = z
  .object({
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe('Until this TCP port accepts connections.'),
    text: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe('Until exactly this text appears in unread output.'),
  })
  .refine(({ port, text }) => port !== undefined || text !== undefined, 'a port or a text')
  .optional()
  .describe('Wait for this within `wait` instead of for the end; see `happened` in the result.');

/** Terminal output for a model: the middle of long output is left out, but all bytes stay in the terminal’s log. */
export const outputText = z.object({
  text: z
    .string()
    .describe('The output without escape sequences; the middle of long output is left out.'),
  omittedBytes: z
    .int()
    .nonnegative()
    .describe('The number of bytes left out of the middle of `text`.'),
  from: z
    .int()
    .nonnegative()
    .describe('The byte offset in the terminal at which this output begins.'),
  to: z.int().nonnegative().describe('The byte offset in the terminal at which it ends.'),
});

/** The outcome of a command so far: the output of every operation that runs, types, reads or interrupts. */
export const runResult = outputText.extend({
  terminal: terminalName,
  status: z
    .enum(['exited', 'running', 'timeout', 'interrupted', 'background'])
    .describe(
      '`running`: not ended yet, read or interrupt it; `background`: it runs in the background; `timeout`: killed after `timeout` seconds.',
    ),
  exitCode: z
    .int()
    .nullable()
    .describe('The exit code; null while the command is running, or if it was killed.'),
  killed: z
    .string()
    .max(200)
    .optional()
    .describe('Why the command was killed, if nobody here did.'),
  seconds: z.number().nonnegative(),
  directory: z.string().describe('The working directory of the shell afterwards.'),
  file: z
    .string()
    .optional()
    .describe('A file with all of the output, without escape sequences, if `text` is not all.'),
  command: z
    .string()
    .optional()
    .describe(
      'The command that `status`, `exitCode` and `seconds` refer to, if the call names none.',
    ),
  happened: z
    .enum(['port', 'text', 'end', 'time', 'message'])
    .optional()
    .describe(
      'What ended the wait: the port answered, the text appeared, the command ended, `wait` elapsed, or the user sent a message. A command that has not ended keeps running.',
    ),
});
/** Offsets matter only if something was left out. */
const briefResult = ({
  omittedBytes,
  from,
  to,
  terminal: name,
  text,
  seconds: s,
  ...more
}: RunResult) => ({
  ...(name !== 'main' && { terminal: name }),
  ...more,
  seconds: Math.round(s * 10) / 10,
  ...(omittedBytes > 0 && { omittedBytes, from, to }),
  text,
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
      'Runs a command in a persistent shell: the directory and variables are kept between calls. Returns when the command ends, or after `wait` seconds with its output so far and the status `running`. It then keeps running: do not start it again; use terminal.read, terminal.input and terminal.interrupt. Use a longer `wait` for long commands such as builds.',
    verb: 'run',
    risk: 'execute',
    knownAs:
      'bash sh shell exec execcommand execcmd localshell containerexec runcommand runshellcommand runinterminal runterminalcmd executecommand executebash python powershell',
    essential: true,
    input: z.object({
      command: z.string().min(1).describe('Shell code; several lines and heredocs are allowed.'),
      terminal: terminal.describe(
        'A new name opens a terminal: a new shell in the workspace, without the others’ variables.',
      ),
      wait: seconds(3_600)
        .positive()
        .default(30)
        .describe('Seconds to wait before returning `running`.'),
      timeout: seconds(86_400)
        .positive()
        .optional()
        .describe('Seconds after which the command and all its children are killed.'),
      background: z
        .boolean()
        .default(false)
        .describe(
          'Return at once, or when `until` happens: for servers and watchers. You are told when it ends.',
        ),
      until,
      stdin: z
        .string()
        .optional()
        .describe('Standard input, read from a file instead of the terminal.'),
      stdinEncoding: z.enum(['utf8', 'base64']).default('utf8'),
    }),
    output: runResult,
    brief: briefResult,
    editable: ['command'],
    // A rule for `sh` does not cover what is piped into it: a star never matches the line end.
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
      'Types into the program that is running in a terminal, waits until its output stops, and returns that output. `keys` are named keys, pressed after the text.',
    risk: 'execute',
    knownAs: 'writestdin sendinput sendkeys',
    essential: true,
    input: z.object({
      terminal,
      text: z.string().default(''),
      keys: z
        .array(z.string().toLowerCase().regex(keyName, 'a key such as enter, up, f2 or ctrl-x'))
        .default([])
        .describe('Such as enter, tab, escape, up, page-down, f2, ctrl-c.'),
      wait: seconds(600).min(0).default(2).describe('Maximum seconds to wait for output.'),
    }),
    output: runResult,
    brief: briefResult,
    subject: typedText,
    subjectKind: 'command',
    display: 'terminal',
    paths: (_, output) => directoryOf(output),
  }),
  'terminal.read': defineOperation({
    title: 'Read a terminal',
    description:
      'Reads the output of a terminal: from a byte offset, or since the last result. Waits up to `wait` seconds for the running command to end, or for `until`.',
    risk: 'read',
    knownAs: 'bashoutput taskoutput readterminal getterminaloutput commandstatus',
    audience: ['model', 'user'], // Output that one caller has read is no longer new to the agent.
    essential: true,
    input: z.object({
      terminal,
      from: z.int().nonnegative().optional(),
      limit: z.int().positive().max(200_000).default(16_000).describe('Maximum bytes.'),
      wait: seconds(3_600).min(0).default(0),
      until,
    }),
    output: runResult,
    brief: briefResult,
    ...inTerminal,
    changesFiles: true, // A program that is running there may have changed them.
    polls: () => true,
    paths: (_, output) => directoryOf(output),
  }),
  'terminal.interrupt': defineOperation({
    title: 'Interrupt a command',
    description:
      'Presses Ctrl-C; with `kill`, kills the running command and all its children immediately.',
    risk: 'execute',
    knownAs: 'killbash killshell taskstop kill',
    essential: true,
    input: z.object({ terminal, kill: z.boolean().default(false) }),
    output: runResult,
    brief: briefResult,
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
    description: 'Lists the open terminals and what is running in each.',
    risk: 'read',
    input: z.object({}),
    output: z.object({
      terminals: z.array(
        z.object({
          terminal: terminalName,
          running: z.string().nullable().describe('The running command, if there is one.'),
          seconds: z.number().nonnegative().nullable(),
          directory: z.string(),
          background: z
            .array(
              runResult
                .pick({ status: true, exitCode: true, seconds: true })
                .extend({ command: z.string() }),
            )
            .describe('Background commands: those that are running, and the last ones that ended.'),
          holder: z.enum(['agent', 'user']).describe('Input owner: the agent or the user.'),
          size: z.int().nonnegative().describe('The number of bytes printed so far.'),
          columns: z.int().positive(),
          rows: z.int().positive(),
        }),
      ),
    }),
    subjectKind: 'command',
    display: 'terminal',
    changesFiles: true, // Programs that are running in them may have changed them.
  }),
});

function typedText({ text, keys }: { text: string; keys: readonly string[] }): string {
  return [text, ...keys.map((key) => `<${key}>`)].join(' ').trim();
}

const directoryOf = (output?: RunResult): string[] => (output ? [output.directory] : []);
