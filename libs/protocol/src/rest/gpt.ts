import { z } from 'zod';
import { operations } from '../operations/index.js';
import { sessionState } from '../session.js';
import { bytes, route, type Route } from './route.js';
import { waitSeconds } from './wait-seconds.js';

/**
 * The API for a custom GPT: few routes, and small responses within 40 seconds. Paths and statuses of `use_agent` are
 * those of Carabiner, of `get-file`, `send-file` and `execcmd` those of MyCodeInterpreter.
 */

/** The longest text in a response; ChatGPT accepts 100,000 characters for the whole response. */
export const gptPageCharacters = 80_000;
/** The longest time that a response takes; ChatGPT waits for 45 seconds. */
export const gptAnswerSeconds = 38;

const session = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .describe(
    'The id that the agent printed. Omit it after useAgent or startSession: the conversation is bound to that session.',
  );
const inSession = z.object({ session });

const wait = waitSeconds(35).describe('Seconds to wait for something new before the response.');

/** A session as a custom GPT sees it. */
export const gptSession = z.object({
  session: z.string(),
  title: z.string(),
  state: sessionState,
  reason: z.string().nullable(),
  question: z.string().nullable().describe('The agent’s question to the user.'),
  waitingFor: z.array(z.string()).describe('Calls that the user must allow first.'),
  lastEvent: z.int().nonnegative(),
});
export type GptSession = z.infer<typeof gptSession>;

/** The progress of a call. One that is `running` or `asking` continues: request its run again. */
export const gptRun = z.object({
  run: z.string().describe('The id of this call.'),
  status: z
    .enum(['done', 'running', 'asking'])
    .describe('`asking`: the user must allow the call in the dashboard first.'),
  output: z.unknown().optional().describe('The result, if it fits in one response.'),
  text: z.string().optional().describe('A page of a longer result, which is JSON.'),
  next: z
    .int()
    .nullable()
    .optional()
    .describe('The start of the next page; null on the last page.'),
});
export type GptRun = z.infer<typeof gptRun>;

const filename = z.string().min(1).max(4_096);

/** Routes that ChatGPT fetches before it has a token. */
export const gptDocumentRoutes = {
  plugin: route({
    method: 'GET',
    path: '/.well-known/ai-plugin.json',
    summary: 'Returns the manifest of the plugin',
    response: z.record(z.string(), z.unknown()),
    access: 'open',
  }),
  schema: route({
    method: 'GET',
    path: '/gpt/openapi.json',
    summary: 'Returns the schema to import into a custom GPT, with the public address filled in',
    response: z.record(z.string(), z.unknown()),
    access: 'open',
  }),
  logo: route({
    method: 'GET',
    path: '/gpt/logo.svg',
    summary: 'Returns the logo that the manifest names',
    response: bytes('image/svg+xml'),
    access: 'open',
  }),
  legal: route({
    method: 'GET',
    path: '/gpt/legal',
    summary: 'Returns the terms that the manifest names',
    response: bytes('text/plain; charset=utf-8'),
    access: 'open',
  }),
};

export const gptRoutes = {
  useAgent: route({
    method: 'POST',
    path: '/api/use_agent/:agent_id',
    about: 'caller',
    summary: 'Use the agent with this id in the conversation from now on.',
    response: gptSession,
    access: 'view',
  }),
  getFile: route({
    method: 'GET',
    path: '/get-file',
    about: 'caller',
    summary: 'Get the bytes of a workspace file. Large files come in parts.',
    query: inSession.extend({
      filename: filename.describe('The path of the file, relative to the workspace.'),
      from: z.coerce
        .number<number>()
        .int()
        .nonnegative()
        .optional()
        .describe('The first byte of the part, for a file of more than 80,000 bytes.'),
    }),
    response: bytes('application/octet-stream'),
  }),
  sendFile: route({
    method: 'POST',
    path: '/send-file',
    about: 'caller',
    summary: 'Upload a file into the workspace, under its own name.',
    query: inSession,
    body: bytes('multipart/form-data'),
    unaudited: true,
    response: operations['files.write'].output,
  }),
  execcmd: route({
    method: 'POST',
    path: '/execcmd',
    about: 'caller',
    summary: 'Run a shell command for at most 30 seconds and get its output and exit code.',
    query: inSession.extend({
      cmd: z.string().min(1).max(20_000).describe('The command, as typed into a shell.'),
      timeout: z.coerce
        .number<number>()
        .positive()
        .max(30)
        .default(30)
        .describe('Seconds after which the command is killed and the response is 408.'),
    }),
    response: z.object({
      output: z.string(),
      exitCode: z.int().nullable(),
      directory: z.string().describe('The working directory of the shell afterwards.'),
    }),
    unaudited: true,
  }),
  sessions: route({
    method: 'GET',
    path: '/gpt/sessions',
    about: 'caller',
    summary: 'List the newest sessions with their ids and states.',
    response: z.array(gptSession),
  }),
  startSession: route({
    method: 'POST',
    path: '/gpt/sessions',
    about: 'caller',
    summary:
      'Start a machine in a container of its own and use it in the conversation. With a task, a coding agent works on the task there; without one, the machine waits for your calls.',
    body: z.object({
      task: z
        .string()
        .min(1)
        .max(20_000)
        .optional()
        .describe('The task for the coding agent. Omit it to do the work yourself.'),
      title: z.string().max(200).optional(),
      model: z
        .string()
        .max(300)
        .optional()
        .describe(
          'The agent’s model, as provider:model; the first model that is set up if omitted.',
        ),
    }),
    response: gptSession,
    status: 201,
  }),
  session: route({
    method: 'GET',
    path: '/gpt/session',
    about: 'caller',
    summary: 'Get the state of the session and what it is waiting for.',
    query: inSession,
    response: gptSession,
  }),
  events: route({
    method: 'GET',
    path: '/gpt/events',
    about: 'caller',
    summary: 'Read what happened in the session after an event; long texts are shortened.',
    query: inSession.extend({
      after: z.coerce
        .number<number>()
        .int()
        .nonnegative()
        .default(0)
        .describe('The number of the last event that you have read.'),
      wait,
    }),
    response: z.object({
      events: z.array(z.record(z.string(), z.unknown())),
      last: z.int().nonnegative().describe('Pass this number as `after` in the next request.'),
    }),
  }),
  message: route({
    method: 'POST',
    path: '/gpt/messages',
    about: 'caller',
    summary:
      'Send a message to the coding agent of the session; a session that has ended is restarted.',
    query: inSession,
    body: z.object({ text: z.string().min(1).max(20_000).describe('The message.') }),
    response: gptSession,
  }),
  stop: route({
    method: 'POST',
    path: '/gpt/stop',
    about: 'caller',
    summary: 'Stop the session; its files are kept.',
    query: inSession,
    response: gptSession,
  }),
  run: route({
    method: 'GET',
    path: '/gpt/runs/:run',
    about: 'caller',
    summary: 'Get the result of a call that took longer, or the next page of a long result.',
    query: z.object({
      wait: wait.default(30),
      from: z.coerce
        .number<number>()
        .int()
        .nonnegative()
        .default(0)
        .describe('The start of the page: `next` of the previous page.'),
    }),
    response: gptRun,
  }),
  call: route({
    method: 'POST',
    path: '/gpt/operations/:name',
    about: 'caller',
    summary: 'Call an operation on the short list',
    query: inSession,
    body: z.unknown(),
    bodyBytes: 2 ** 20,
    response: gptRun,
    access: 'view',
    unaudited: true,
  }),
};

/** Whether a route belongs to the API for custom GPTs. */
export const isGptRoute = (route: Route): boolean =>
  [gptRoutes, gptDocumentRoutes].some((group) => Object.values<Route>(group).includes(route));
