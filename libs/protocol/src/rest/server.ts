import { z } from 'zod';
import { scope } from '../access.js';
import { blobId } from '../models.js';
import type { Role } from '../operation.js';
import { describedOperation, toolFormat } from '../projections/tool-definition.js';
import { check, example } from '../setup.js';
import { usageOfAll } from '../session-usage.js';
import { count } from './count.js';
import { bytes, nothing, route } from './route.js';

const role: z.ZodType<Role> = z.enum(['user', 'viewer']);

export const uploadRoutes = {
  /** A tar archive (with its .git, if any); returns the id to create a session with. */
  workspace: route({
    method: 'POST',
    path: '/api/workspaces',
    summary: 'Uploads a workspace as a tar archive of at most 2 GiB',
    body: bytes('application/x-tar'),
    response: z.object({ workspace: z.string() }),
    status: 201,
  }),
  /** Straight into the sandbox of a session that was made with the workspace `upload`. */
  toSession: route({
    method: 'PUT',
    path: '/api/sessions/:id/workspace',
    summary:
      'Sends the workspace of a session that waits for it, as a tar archive of at most 2 GiB',
    query: z.object({ bytes: count.optional().describe('Its size, for the progress.') }),
    body: bytes('application/x-tar'),
    response: nothing,
  }),
  blob: route({
    method: 'POST',
    path: '/api/blobs',
    summary: 'Uploads a picture or another file of at most 16 MiB',
    body: bytes('*/*'),
    response: z.object({ blob: blobId }),
    status: 201,
  }),
};

export const serverRoutes = {
  me: route({
    method: 'GET',
    path: '/api/me',
    summary: 'Who the caller is, and what it may do',
    response: z.object({
      role,
      scope,
      label: z.string(),
      sessions: z.enum(['all', 'some']).describe('`some`: it sees no others.'),
      expires: z.iso.datetime({ offset: true }).nullable(),
      hasPassword: z.boolean().describe('Whether it is a user who logs in with a password.'),
    }),
  }),
  /** For one login of a browser: unlike the token it may stand in an address. */
  loginCode: route({
    method: 'POST',
    path: '/api/login-codes',
    summary:
      'Creates a code that logs one browser in as the caller within ten minutes, as `/?code=…`',
    response: z.object({ code: z.string() }),
    status: 201,
  }),
  endLogins: route({
    method: 'DELETE',
    path: '/api/logins',
    summary: 'Ends the logins of all browsers; tokens stay valid',
    response: nothing,
    access: 'admin',
  }),
  checks: route({
    method: 'GET',
    path: '/api/checks',
    summary: 'What the product needs to work, as `belay doctor` checks it',
    response: z.array(check),
  }),
  examples: route({
    method: 'GET',
    path: '/api/examples',
    summary: 'The sessions that the product ships, ready to be started',
    response: z.array(example),
  }),
  openApi: route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    response: z.record(z.string(), z.unknown()),
  }),
  openApiYaml: route({
    method: 'GET',
    path: '/openapi.yaml',
    summary: 'This document as YAML',
    response: bytes('application/yaml'),
  }),
  usage: route({
    method: 'GET',
    path: '/api/usage',
    summary: 'What all sessions together have used, by model',
    response: usageOfAll,
  }),
};

/** What agents can do, for programs that let a model of their own do it. */
export const operationRoutes = {
  list: route({
    method: 'GET',
    path: '/api/operations',
    summary: 'Every operation that a caller may use, with the schemas of its input and output',
    response: z.array(describedOperation),
  }),
  tools: route({
    method: 'GET',
    path: '/api/operations/tools',
    summary: 'The same as tool definitions for a model of your own',
    query: z.object({ format: toolFormat.default('openai') }),
    response: z.array(z.record(z.string(), z.unknown())),
  }),
};

export const monitoringRoutes = {
  health: route({
    method: 'GET',
    path: '/health',
    summary: 'Whether the server works; 503 when it does not',
    response: z.object({
      ok: z.boolean(),
      database: z.boolean(),
      diskSpace: z.boolean().describe('Whether there is disk space to write.'),
      engine: z.boolean().nullable().describe('The last report of the container engine.'),
    }),
    otherStatus: 503,
    access: 'open',
  }),
  metrics: route({
    method: 'GET',
    path: '/metrics',
    summary: 'Counts for Prometheus',
    response: bytes('text/plain; version=0.0.4; charset=utf-8'),
  }),
};
