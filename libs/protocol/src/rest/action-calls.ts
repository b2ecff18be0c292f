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
    summary:
      'Runs an installed action outside a session: it sees no workspace, and needs no approval',
    params,
    body: z.record(z.string(), z.unknown()).describe('The input.'),
    response: actionOutput,
    about: 'starting',
  }),
  tool: route({
    method: 'POST',
    path: '/api/actions/:name/tools/:tool/calls',
    summary: 'Calls a tool of an installed MCP server, without an approval',
    params: params.extend({ tool: z.string().min(1).max(200) }),
    body: z.record(z.string(), z.unknown()).describe('The input.'),
    response: mcpOutput,
    about: 'starting',
  }),
  blob: route({
    method: 'GET',
    path: '/api/actions/:name/blobs/:blob',
    summary: 'Returns a file that such a call by the same caller left, for at least an hour',
    params: params.extend({ blob: blobId }),
    response: bytes('*/*'),
    about: 'starting',
    access: 'operate',
  }),
};
