import { z } from 'zod';
import { defineOperation } from '../operation.js';

/** A terminal's name; `main` is the one that is always there. */
export const terminalName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'a short name of small letters, digits and dashes');

const terminal = terminalName.default('main').describe('Which terminal; opened when it is new.');

/** Text of a terminal for a model: long output loses its middle, the bytes stay in the terminal's log. */
export const outputText = z.object({
  text: z.string().describe('The output, escape sequences removed; long output lacks its middle.'),
  omittedBytes: z.int().nonnegative().describe('Bytes left out of the middle of `text`.'),
  from: z
    .int()
    .nonnegative()
    .describe('Offset in the terminal where this output begins, in bytes.'),
  to: z.int().nonnegative().describe('Offset in the terminal where it ends, in bytes.'),
});

export const runResult = outputText.extend({
  terminal: terminalName,
  status: z
    .enum(['exited', 'running', 'timeout', 'interrupted', 'background'])
    .describe(
      '`running`: still going after `wait` seconds, read or interrupt it; `timeout`: killed after `timeout` seconds.',
    ),
  exitCode: z.int().nullable().describe('The real exit code; null while it runs or was killed.'),
  seconds: z.number().nonnegative(),
  directory: z.string().describe('Working directory of the shell afterwards.'),
});

export const terminalOperations = {
  'terminal.run': defineOperation({
    name: 'terminal.run',
    title: 'Run a command',
    description:
      'Runs a command in a persistent shell: directory and variables last from call to call. Answers when the command ends, or after `wait` seconds with what it printed so far and status `running`: it then goes on, is not to be started again, and terminal.read, terminal.input and terminal.interrupt reach it. Give a longer `wait` to what takes long, such as builds.',
    risk: 'execute',
    input: z.object({
      command: z.string().min(1).describe('Shell source; several lines and heredocs are fine.'),
      terminal,
      wait: z
        .number()
        .positive()
        .max(3600)
        .default(30)
        .describe('Seconds to wait before answering `running`.'),
      timeout: z
        .number()
        .positive()
        .max(86_400)
        .optional()
        .describe('Seconds after which the command and all its children are killed.'),
      background: z
        .boolean()
        .default(false)
        .describe('Answer at once and let it run, for servers and watchers.'),
      stdin: z
        .string()
        .optional()
        .describe('Standard input of the command, from a file instead of the terminal.'),
      stdinEncoding: z.enum(['utf8', 'base64']).default('utf8'),
    }),
    output: runResult,
  }),
  'terminal.input': defineOperation({
    name: 'terminal.input',
    title: 'Type into a terminal',
    description:
      'Types into the program that runs in a terminal, then waits until it is quiet and answers with what it printed. `keys` are named keys typed after the text.',
    risk: 'execute',
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
  }),
  'terminal.read': defineOperation({
    name: 'terminal.read',
    title: 'Read a terminal',
    description:
      'Reads what a terminal printed: from a byte offset, or since the last answer. Waits up to `wait` seconds for the running command to end.',
    risk: 'read',
    input: z.object({
      terminal,
      from: z.int().nonnegative().optional(),
      limit: z.int().positive().max(200_000).default(16_000).describe('Bytes, at most.'),
      wait: z.number().min(0).max(3600).default(0),
    }),
    output: runResult,
  }),
  'terminal.interrupt': defineOperation({
    name: 'terminal.interrupt',
    title: 'Interrupt a command',
    description:
      'Presses Ctrl-C; with `kill`, ends the running command and all its children at once.',
    risk: 'execute',
    input: z.object({ terminal, kill: z.boolean().default(false) }),
    output: runResult,
  }),
  'terminal.close': defineOperation({
    name: 'terminal.close',
    title: 'Close a terminal',
    description: 'Closes a terminal and everything that runs in it.',
    risk: 'execute',
    input: z.object({ terminal }),
    output: z.object({ closed: z.boolean() }),
  }),
  'terminal.list': defineOperation({
    name: 'terminal.list',
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
          holder: z.enum(['agent', 'user']).describe('Who types: the agent or a person.'),
          size: z.int().nonnegative().describe('Bytes printed so far.'),
          columns: z.int().positive(),
          rows: z.int().positive(),
        }),
      ),
    }),
  }),
};
