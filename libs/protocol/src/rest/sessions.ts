import { z } from 'zod';
import { streams } from '../agent-connection.js';
import { agentProgramName } from '../agents.js';
import { approvalRequest } from '../approvals.js';
import { event } from '../events.js';
import { operations } from '../operations/index.js';
import { sessionSummary } from '../session.js';
import { importRequest, rewound } from '../session-requests.js';
import { sessionUsage } from '../session-usage.js';
import { transcriptFile, transcriptFolder } from '../transcript-file.js';
import { commandRoute } from './command-route.js';
import { count } from './count.js';
import { pageQuery } from './page.js';
import { bytes, nothing, route } from './route.js';
import { waitSeconds } from './wait-seconds.js';

/** The longest that a request waits for an event. */
const maxWaitSeconds = 60;

/** A task or message of 200,000 characters of any kind. */
const longText = { bodyBytes: 2 * 2 ** 20 };
/** A transcript, whose quotes are escaped. */
const wholeTranscript = { bodyBytes: 96 * 2 ** 20 };
/** A file of 50 MB as base64. */
const largeFile = { bodyBytes: 80 * 2 ** 20 };

const messageParams = z.object({
  id: z.string(),
  message: z.coerce.number<string>().int().positive(),
});

export const sessionRoutes = {
  list: route({
    method: 'GET',
    path: '/api/sessions',
    summary: 'Lists the summaries of all sessions, newest first',
    query: pageQuery.extend({
      comparison: z.string().max(200).optional().describe('Only the sessions of this comparison.'),
    }),
    paged: true,
    response: z.array(sessionSummary),
    about: 'caller',
  }),
  create: commandRoute('start', 'POST', '/api/sessions', {
    ...longText,
    response: sessionSummary,
    status: 201,
    about: 'caller',
  }),
  get: commandRoute('status', 'GET', '/api/sessions/:id', { response: sessionSummary }),
  usage: route({
    method: 'GET',
    path: '/api/sessions/:id/usage',
    summary: 'Returns the usage of a session, with its limits',
    response: sessionUsage,
  }),
  change: commandRoute('change', 'PATCH', '/api/sessions/:id', { response: sessionSummary }),
  remove: commandRoute('remove', 'DELETE', '/api/sessions/:id'),
  message: commandRoute('message', 'POST', '/api/sessions/:id/messages', {
    ...longText,
    response: nothing,
  }),
  editMessage: commandRoute('edit', 'PUT', '/api/sessions/:id/messages/:message', {
    params: messageParams,
    ...longText,
    response: nothing,
  }),
  withdrawMessage: commandRoute('withdraw', 'DELETE', '/api/sessions/:id/messages/:message', {
    params: messageParams,
    response: nothing,
  }),
  pause: commandRoute('pause', 'POST', '/api/sessions/:id/pause'),
  interrupt: commandRoute('interrupt', 'POST', '/api/sessions/:id/interrupt'),
  resume: commandRoute('resume', 'POST', '/api/sessions/:id/resume'),
  stop: commandRoute('stop', 'POST', '/api/sessions/:id/stop'),
  restart: commandRoute('restart', 'POST', '/api/sessions/:id/restart'),
  wake: commandRoute('wake', 'POST', '/api/sessions/:id/wake'),
  fork: commandRoute('fork', 'POST', '/api/sessions/:id/fork', {
    ...longText,
    response: sessionSummary,
    status: 201,
  }),
  rewind: commandRoute('rewind', 'POST', '/api/sessions/:id/rewind', { response: rewound }),
  import: route({
    method: 'POST',
    path: '/api/sessions/import',
    summary: 'Creates a session that continues the transcript of an agent from another machine',
    body: importRequest,
    ...wholeTranscript,
    response: sessionSummary,
    status: 201,
    about: 'caller',
  }),
  search: route({
    method: 'GET',
    path: '/api/search',
    summary: 'Searches all logs for words; the last one may be a prefix',
    query: z.object({ q: z.string().max(1_000) }),
    response: z.array(z.object({ session: z.string(), seq: z.int(), excerpt: z.string() })),
    about: 'caller',
  }),
};

/** The log of a session, for clients that poll and clients that follow. */
export const sessionEventRoutes = {
  events: route({
    method: 'GET',
    path: '/api/sessions/:id/events',
    summary: 'Reads the log after a number',
    query: z.object({
      after: count.default(0),
      limit: z.coerce.number<number>().int().positive().max(50_000).default(10_000),
      wait: waitSeconds(maxWaitSeconds).describe(
        'Seconds to wait if there is no event yet. The response is an empty list if none came.',
      ),
    }),
    paged: true,
    response: z.array(event),
  }),
  /** Each event is a message with its number as id, so that a client resumes after the last one it got. */
  stream: route({
    method: 'GET',
    path: '/api/sessions/:id/events/stream',
    summary: 'Streams the log after a number and then live, as server-sent events',
    description:
      'The response does not end by itself, so read it with a client for server-sent events; `events` with `wait` is the same as single requests.',
    query: z.object({ after: count.default(0) }),
    headers: {
      'Last-Event-ID': z
        .string()
        .describe('The number after which to resume; it takes precedence over `after`.'),
    },
    response: bytes('text/event-stream'),
  }),
};

/** What a user does through the agent of a session. */
export const sessionCallRoutes = {
  approvals: route({
    method: 'GET',
    path: '/api/sessions/:id/approvals',
    summary: 'Lists the approvals that are waiting for the user',
    response: z.array(approvalRequest),
  }),
  /** A user’s call of an operation. The caller’s scope decides which are allowed; each call is audited separately. */
  call: route({
    method: 'POST',
    path: '/api/sessions/:id/operations/:name',
    summary: 'Calls an operation; closing the request cancels it',
    body: z.unknown(),
    ...largeFile,
    response: z.unknown(),
    access: 'view',
    unaudited: true,
  }),
  answer: commandRoute('answer', 'POST', '/api/sessions/:id/approvals/:call'),
};

/** `*`, or a file’s version in quotes. */
const fileVersionTag = z.string().regex(/^(\*|"[0-9a-f]{16}")$/);

const filePath = z.object({
  path: z.string().min(1).max(4_096).describe('Relative to the workspace.'),
});

/** The files of a workspace and their history. */
export const sessionFileRoutes = {
  file: route({
    method: 'GET',
    path: '/api/sessions/:id/file',
    summary: 'Returns the bytes of a file, or one range of them, with the file’s version as ETag',
    query: filePath,
    headers: {
      Range: z.string().describe('One range of bytes, such as `bytes=0-999` or `bytes=-1000`.'),
      'If-Range': z
        .string()
        .describe(
          'The ETag of an earlier response: the range applies only if the file is the same.',
        ),
    },
    response: bytes('application/octet-stream'),
    otherStatus: 206,
  }),
  saveFile: route({
    method: 'PUT',
    path: '/api/sessions/:id/file',
    summary: 'Writes a file of at most 50 MB, and creates its folders',
    query: filePath.extend({
      executable: z
        .stringbool({ truthy: ['true'], falsy: ['false'], error: 'true or false' })
        .optional()
        .meta({ type: 'boolean' }),
    }),
    headers: {
      'If-Match': fileVersionTag.describe(
        'The ETag of an earlier response: written only if the file is the same, else 409.',
      ),
      'If-None-Match': z
        .string()
        .regex(/^\*$/)
        .describe('`*`: written only if there is no such file, else 409.'),
    },
    body: bytes('*/*'),
    response: operations['files.write'].output,
    unaudited: true,
  }),
  history: route({
    method: 'GET',
    path: '/api/sessions/:id/history',
    summary: 'Lists the commits of the history, newest first; each step that changed files has one',
    query: z.object({ limit: z.coerce.number<number>().int().positive().max(5_000).default(200) }),
    response: operations['workspace.log'].output,
  }),
};

/** The output of a session: terminals, changes and pictures. */
export const sessionContentRoutes = {
  terminals: route({
    method: 'GET',
    path: '/api/sessions/:id/terminals',
    summary: 'Lists the terminals, with the number of bytes that each has printed',
    response: z.array(z.object({ terminal: z.string(), size: z.int().nonnegative() })),
  }),
  /** Bytes of a terminal from an offset on. */
  terminal: route({
    method: 'GET',
    path: '/api/sessions/:id/terminals/:name',
    summary:
      'Returns the bytes of a terminal `from` one offset `to` another, or to its current end',
    query: z.object({ from: count.default(0), to: count.optional() }),
    response: bytes('application/octet-stream'),
  }),
  /** The session’s changes as a patch for `git apply`. */
  patch: route({
    method: 'GET',
    path: '/api/sessions/:id/patch',
    summary: 'Returns the changes as a patch for `git apply`; it is kept after the session ends',
    response: bytes('text/x-patch; charset=utf-8'),
  }),
  export: route({
    method: 'GET',
    path: '/api/sessions/:id/export',
    summary:
      'Exports the changes, the files or the history; formats other than patch start the sandbox',
    query: z.object({
      format: streams['workspace.export'].shape.format,
      commit: z
        .string()
        .regex(/^[0-9a-f]{7,40}$/)
        .optional()
        .describe('Up to this commit of the history; the latest if omitted.'),
      from: z
        .string()
        .regex(/^[0-9a-f]{7,40}$/)
        .optional()
        .describe('For a patch: from this commit on; from the start if omitted.'),
    }),
    response: bytes('*/*'),
  }),
  transcript: route({
    method: 'GET',
    path: '/api/sessions/:id/transcript',
    summary: 'Returns the conversation as a file that an agent on another machine can resume',
    query: z.object({
      format: agentProgramName.describe('The agent that is to continue.'),
      cwd: transcriptFolder,
    }),
    response: transcriptFile,
  }),
  blob: route({
    method: 'GET',
    path: '/api/sessions/:id/blobs/:blob',
    summary: 'Returns a screenshot, another picture or what a rerun printed, from the log',
    response: bytes('*/*'),
  }),
};
