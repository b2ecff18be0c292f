import { z } from 'zod';
import { actionName, actionOutput } from '../actions.js';
import { mcpOutput } from '../mcp.js';
import { blobId } from '../models.js';
import { bytes, route } from './route.js';

const params = z.object({ name: actionName });

/** Calls of installed actions without a session, for web services and programs. */
export const actionCallRoutes = {
  call: route({
    method: 'POST',
    path: '/api/actions/:name/calls',
    summary: 'Runs an installed action by itself: it sees no workspace, and nobody is asked',
    params,
    body: z.record(z.string(), z.unknown()).describe('Its input.'),
    response: actionOutput,
  }),
  tool: route({
    method: 'POST',
    path: '/api/actions/:name/tools/:tool/calls',
    summary: 'Calls a tool of an installed MCP server, and nobody is asked',
    params: params.extend({ tool: z.string().min(1).max(200) }),
    body: z.record(z.string(), z.unknown()).describe('Its input.'),
    response: mcpOutput,
  }),
  blob: route({
    method: 'GET',
    path: '/api/actions/:name/blobs/:blob',
    summary: 'A file that such a call of the same caller left, for an hour at least',
    params: params.extend({ blob: blobId }),
    response: bytes('*/*'),
    access: 'operate',
  }),
};
