import { z } from 'zod';
import { scope } from '../access.js';
import { blobId } from '../models.js';
import type { Role } from '../operation.js';
import { describedOperation, toolFormat } from '../projections/tool-definition.js';
import { check, example } from '../setup.js';
import { usageOfAll } from '../session-usage.js';
import { count } from './count.js';
import { bytes, nothing, route, tarArchive } from './route.js';

const role: z.ZodType<Role> = z.enum(['user', 'viewer']);

export const uploadRoutes = {
  /** A tar archive (with its .git, if any); returns the id to create a session with. */
  workspace: route({
    method: 'POST',
    path: '/api/workspaces',
    summary: 'Uploads a workspace as a tar archive of at most 2 GiB',
    body: tarArchive,
    response: z.object({ workspace: z.string() }),
    about: 'starting',
    status: 201,
  }),
  /** Straight into the sandbox of a session that was created with the workspace `upload`. */
  toSession: route({
    method: 'PUT',
    path: '/api/sessions/:id/workspace',
    summary:
      'Uploads the workspace of a session that is waiting for it, as a tar archive of at most 2 GiB',
    query: z.object({
      bytes: count.optional().describe('The size of the archive, to show the progress.'),
    }),
    body: tarArchive,
    response: nothing,
  }),
  blob: route({
    method: 'POST',
    path: '/api/blobs',
    summary: 'Uploads a picture or another file of at most 16 MiB',
    body: bytes('*/*'),
    response: z.object({ blob: blobId }),
    about: 'caller',
    status: 201,
  }),
};

export const serverRoutes = {
  me: route({
    method: 'GET',
    path: '/api/me',
    summary: 'Returns who the caller is and what they may do',
    response: z.object({
      role,
      scope,
      label: z.string(),
      sessions: z.enum(['all', 'some']).describe('`some`: the caller sees no others.'),
      expires: z.iso.datetime({ offset: true }).nullable(),
      hasPassword: z
        .boolean()
        .describe('Whether the caller is a user who logs in with a password.'),
    }),
    about: 'caller',
  }),
  /** For one login of a browser: unlike a token, the code may be in a URL. */
  loginCode: route({
    method: 'POST',
    path: '/api/login-codes',
    summary:
      'Creates a code that logs one browser in as the caller within ten minutes, as `/?code=…`',
    response: z.object({ code: z.string() }),
    about: 'caller',
    status: 201,
  }),
  endLogins: route({
    method: 'DELETE',
    path: '/api/logins',
    summary: 'Ends the logins of all browsers; tokens stay valid',
    response: nothing,
    access: 'admin',
    endsAccess: true,
  }),
  checks: route({
    method: 'GET',
    path: '/api/checks',
    summary: 'Checks what Belay needs to work, like `belay doctor`',
    response: z.array(check),
  }),
  examples: route({
    method: 'GET',
    path: '/api/examples',
    summary: 'Lists the example sessions that come with Belay, ready to start',
    response: z.array(example),
    about: 'starting',
  }),
  openApi: route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'Returns this document',
    response: z.record(z.string(), z.unknown()),
    about: 'caller',
  }),
  openApiYaml: route({
    method: 'GET',
    path: '/openapi.yaml',
    summary: 'Returns this document as YAML',
    response: bytes('application/yaml'),
    about: 'caller',
  }),
  usage: route({
    method: 'GET',
    path: '/api/usage',
    summary: 'Returns the total usage of all sessions, by model',
    response: usageOfAll,
    about: 'caller',
  }),
};

/** The operations of agents, for programs with a model of their own. */
export const operationRoutes = {
  list: route({
    method: 'GET',
    path: '/api/operations',
    summary:
      'Lists the operations that the caller may use, with the schemas of their inputs and outputs',
    response: z.array(describedOperation),
    about: 'caller',
  }),
  tools: route({
    method: 'GET',
    path: '/api/operations/tools',
    summary: 'Lists the same operations as tool definitions for a model of your own',
    query: z.object({ format: toolFormat.default('openai') }),
    response: z.array(z.record(z.string(), z.unknown())),
    about: 'caller',
  }),
};

export const monitoringRoutes = {
  health: route({
    method: 'GET',
    path: '/health',
    summary: 'Reports whether the server works; 503 if it does not',
    response: z.object({
      ok: z.boolean(),
      database: z.boolean(),
      diskSpace: z.boolean().describe('Whether there is enough disk space to write.'),
      engine: z.boolean().nullable().describe('The last report of the container engine.'),
    }),
    otherStatus: 503,
    access: 'open',
  }),
  live: route({
    method: 'GET',
    path: '/health/live',
    summary: 'Reports that the process responds; for the probe that restarts it',
    response: z.object({ ok: z.literal(true) }),
    access: 'open',
  }),
  ready: route({
    method: 'GET',
    path: '/health/ready',
    summary: 'Reports whether requests may be sent to this server; 503 if not',
    response: z.object({
      ready: z.boolean(),
      database: z.boolean().describe('Whether it responds and its tables are migrated.'),
      engine: z
        .boolean()
        .nullable()
        .describe(
          'Whether the container engine responds; null until that is known, and at a server that passes requests on.',
        ),
      draining: z.boolean().describe('Whether the server is shutting down.'),
      reasons: z
        .array(z.string())
        .describe(
          'What is missing, in one sentence each; a missing engine only limits the server.',
        ),
    }),
    otherStatus: 503,
    access: 'open',
  }),
};
