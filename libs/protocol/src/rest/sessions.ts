import { z } from 'zod';
import { streams } from '../agent-connection.js';
import { approvalAnswer, approvalRequest } from '../approvals.js';
import { event } from '../events.js';
import { operations } from '../operations/index.js';
import { messageEdit, newMessage, newSession, sessionChange, sessionSummary } from '../session.js';
import { forkRequest, rewindRequest, rewound } from '../session-requests.js';
import { sessionUsage } from '../session-usage.js';
import { count } from './count.js';
import { pageQuery } from './page.js';
import { bytes, nothing, route } from './route.js';

/** The longest that a request waits for an event. */
const maxWaitSeconds = 60;

/** A task or message of 200,000 characters, whatever they are. */
const longText = { bodyBytes: 2 * 2 ** 20 };
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
    summary: 'The summaries of all sessions, newest first',
    query: pageQuery.extend({
      comparison: z.string().max(200).optional().describe('Only the sessions of this comparison.'),
    }),
    paged: true,
    response: z.array(sessionSummary),
  }),
  create: route({
    method: 'POST',
    path: '/api/sessions',
    summary: 'Begins a session; model and workspace are checked first',
    body: newSession,
    ...longText,
    response: sessionSummary,
    status: 201,
  }),
  get: route({
    method: 'GET',
    path: '/api/sessions/:id',
    summary: 'The summary of a session',
    response: sessionSummary,
  }),
  usage: route({
    method: 'GET',
    path: '/api/sessions/:id/usage',
    summary: 'What a session has used, and its limits',
    response: sessionUsage,
  }),
  change: route({
    method: 'PATCH',
    path: '/api/sessions/:id',
    summary:
      'Changes title, tags, archived, approvals, budgets, model or network; what is left out stays',
    body: sessionChange,
    response: sessionSummary,
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/sessions/:id',
    summary: 'Deletes a session with its container, files and logs',
    response: nothing,
  }),
  message: route({
    method: 'POST',
    path: '/api/sessions/:id/messages',
    summary: 'Sends a message; an ended session is resumed',
    body: newMessage,
    ...longText,
    response: nothing,
  }),
  editMessage: route({
    method: 'PUT',
    path: '/api/sessions/:id/messages/:message',
    summary: 'Changes the text of a queued message, by its number; 409 once the agent has taken it',
    params: messageParams,
    body: messageEdit,
    ...longText,
    response: nothing,
  }),
  withdrawMessage: route({
    method: 'DELETE',
    path: '/api/sessions/:id/messages/:message',
    summary: 'Withdraws a queued message, by its number; 409 once the agent has taken it',
    params: messageParams,
    response: nothing,
  }),
  pause: route({
    method: 'POST',
    path: '/api/sessions/:id/pause',
    summary: 'Pauses a session before its next step',
    response: nothing,
  }),
  resume: route({
    method: 'POST',
    path: '/api/sessions/:id/resume',
    summary: 'Resumes a paused session',
    response: nothing,
  }),
  stop: route({
    method: 'POST',
    path: '/api/sessions/:id/stop',
    summary: 'Stops a session and its sandbox',
    response: nothing,
  }),
  /** Starts an ended session again, from its log, in a fresh sandbox with its files. */
  restart: route({
    method: 'POST',
    path: '/api/sessions/:id/restart',
    summary: 'Starts an ended session again, from its log, in a fresh sandbox with its files',
    response: nothing,
  }),
  /** Starts the sandbox of an ended session, if it is gone, so that its files can be read and changed. */
  wake: route({
    method: 'POST',
    path: '/api/sessions/:id/wake',
    summary: 'Starts the sandbox of an ended session, so that its files can be read and changed',
    response: nothing,
  }),
  fork: route({
    method: 'POST',
    path: '/api/sessions/:id/fork',
    summary: 'A new session with log and files as of an event',
    body: forkRequest,
    ...longText,
    response: sessionSummary,
    status: 201,
  }),
  rewind: route({
    method: 'POST',
    path: '/api/sessions/:id/rewind',
    summary: 'Takes files, conversation or both back to an event, or previews that',
    body: rewindRequest,
    response: rewound,
  }),
  search: route({
    method: 'GET',
    path: '/api/search',
    summary: 'Words in all logs; the last one may be a beginning',
    query: z.object({ q: z.string().max(1_000) }),
    response: z.array(z.object({ session: z.string(), seq: z.int(), excerpt: z.string() })),
  }),
};

/** The log of a session, for those who ask again and for those who follow. */
export const sessionEventRoutes = {
  events: route({
    method: 'GET',
    path: '/api/sessions/:id/events',
    summary: 'The log from a number on',
    query: z.object({
      after: count.default(0),
      limit: z.coerce.number<number>().int().positive().max(50_000).default(10_000),
      wait: z.coerce
        .number<number>()
        .min(0)
        .max(maxWaitSeconds)
        .default(0)
        .describe('Seconds to wait when there is no event yet; the answer is then an empty list.'),
    }),
    paged: true,
    response: z.array(event),
  }),
  /** Each event is a message with its number as id, so that a client resumes after the last one it got. */
  stream: route({
    method: 'GET',
    path: '/api/sessions/:id/events/stream',
    summary: 'The log from a number on, and then live, as server-sent events',
    query: z.object({ after: count.default(0) }),
    headers: { 'Last-Event-ID': 'The number after which to resume; it counts before `after`.' },
    response: bytes('text/event-stream'),
  }),
};

/** What a user does through the agent of a session. */
export const sessionCallRoutes = {
  approvals: route({
    method: 'GET',
    path: '/api/sessions/:id/approvals',
    summary: 'The questions that wait for the user',
    response: z.array(approvalRequest),
  }),
  /** A user’s call of an operation. The scope of the caller decides which; each is audited by itself. */
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
  answer: route({
    method: 'POST',
    path: '/api/sessions/:id/approvals/:call',
    summary: 'Answers a question that waits, and may remember the answer as a rule',
    body: approvalAnswer,
    response: nothing,
  }),
};

const filePath = z.object({
  path: z.string().min(1).max(4_096).describe('Relative to the workspace.'),
});

/** The files of a workspace, and what became of them. */
export const sessionFileRoutes = {
  file: route({
    method: 'GET',
    path: '/api/sessions/:id/file',
    summary: 'The bytes of a file, with its version as ETag; one range of them, when asked for',
    query: filePath,
    headers: {
      Range: 'One range of bytes, such as `bytes=0-999` or `bytes=-1000`.',
      'If-Range': 'The ETag of an earlier answer: the range counts only if the file is the same.',
    },
    response: bytes('application/octet-stream'),
    otherStatus: 206,
  }),
  saveFile: route({
    method: 'PUT',
    path: '/api/sessions/:id/file',
    summary: 'Writes a file of at most 50 MB, and the folders above it',
    query: filePath.extend({ executable: z.stringbool().optional() }),
    headers: {
      'If-Match': 'The ETag of an earlier answer: written only if the file is the same, else 409.',
      'If-None-Match': '`*`: written only if there is no such file, else 409.',
    },
    body: bytes('*/*'),
    response: operations['files.write'].output,
    unaudited: true,
  }),
  history: route({
    method: 'GET',
    path: '/api/sessions/:id/history',
    summary: 'The commits of the history, newest first; each step that changed files is one',
    query: z.object({ limit: z.coerce.number<number>().int().positive().max(5_000).default(200) }),
    response: operations['workspace.log'].output,
  }),
};

/** What a session has written: terminals, changes and pictures. */
export const sessionContentRoutes = {
  terminals: route({
    method: 'GET',
    path: '/api/sessions/:id/terminals',
    summary: 'The terminals and how many bytes each has printed',
    response: z.array(z.object({ terminal: z.string(), size: z.int().nonnegative() })),
  }),
  /** Bytes of a terminal from an offset on. */
  terminal: route({
    method: 'GET',
    path: '/api/sessions/:id/terminals/:name',
    summary: 'Bytes of a terminal `from` one offset up to another, or to what is there now',
    query: z.object({ from: count.default(0), to: count.optional() }),
    response: bytes('application/octet-stream'),
  }),
  /** The session’s changes as a patch that `git apply` takes. */
  patch: route({
    method: 'GET',
    path: '/api/sessions/:id/patch',
    summary: 'The changes as a patch that `git apply` takes; it is kept at the end of a session',
    response: bytes('text/x-patch; charset=utf-8'),
  }),
  export: route({
    method: 'GET',
    path: '/api/sessions/:id/export',
    summary: 'The changes, the files or the history; other formats than patch wake its sandbox',
    query: z.object({
      format: streams['workspace.export'].shape.format,
      commit: z
        .string()
        .regex(/^[0-9a-f]{7,40}$/)
        .optional()
        .describe('Up to this commit of the history; the latest when left out.'),
      from: z
        .string()
        .regex(/^[0-9a-f]{7,40}$/)
        .optional()
        .describe('Of a patch: from this commit on; from the start when left out.'),
    }),
    response: bytes('*/*'),
  }),
  blob: route({
    method: 'GET',
    path: '/api/sessions/:id/blobs/:blob',
    summary: 'A screenshot, or another picture of the log',
    response: bytes('*/*'),
  }),
};
