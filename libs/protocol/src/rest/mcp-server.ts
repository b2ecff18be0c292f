import { z } from 'zod';
import { bytes, nothing, route } from './route.js';

/** Where MCP clients connect. */
export const mcpPath = '/mcp';

/** The MCP server over streamable HTTP; its messages are those of the Model Context Protocol. */
export const mcpServerRoutes = {
  send: route({
    method: 'POST',
    path: mcpPath,
    summary: 'Takes messages of an MCP client (streamable HTTP)',
    body: bytes('application/json'),
    response: bytes('*/*'),
    access: 'view',
    // What is done by it is recorded by itself.
    unaudited: true,
  }),
  listen: route({
    method: 'GET',
    path: mcpPath,
    summary: 'The stream of messages for an MCP client',
    response: bytes('*/*'),
  }),
  leave: route({
    method: 'DELETE',
    path: mcpPath,
    summary: 'Ends the connection of an MCP client',
    response: nothing,
    access: 'view',
    unaudited: true,
  }),
};

const metadata = z.record(z.string(), z.unknown());
const short = z.string().min(1).max(2_000);

/** What an application sends that wants access on behalf of the user (RFC 6749, with PKCE). */
export const authorizationRequest = z.object({
  response_type: z.literal('code'),
  client_id: short,
  redirect_uri: short,
  code_challenge: z.string().regex(/^[\w-]{43,128}$/, 'the SHA-256 of the verifier, as base64url'),
  code_challenge_method: z.literal('S256'),
  state: short.optional(),
  scope: z.string().max(2_000).optional(),
  resource: short.optional(),
});
export type AuthorizationRequest = z.output<typeof authorizationRequest>;

/** How an application introduces itself (RFC 7591). */
export const clientRegistration = z.object({
  redirect_uris: z.array(short).min(1).max(10),
  client_name: z
    .string()
    .max(80)
    .regex(/^[^\p{C}]*$/u, 'one line of visible text')
    .optional(),
});

/** OAuth for MCP clients: this server is resource and authorization server in one. */
export const oauthRoutes = {
  resource: route({
    method: 'GET',
    path: '/.well-known/oauth-protected-resource',
    summary: 'The authorization server of the MCP server (RFC 9728)',
    response: metadata,
    access: 'open',
  }),
  resourceOfMcp: route({
    method: 'GET',
    path: '/.well-known/oauth-protected-resource/mcp',
    summary: 'The authorization server of the MCP server (RFC 9728)',
    response: metadata,
    access: 'open',
  }),
  server: route({
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    summary: 'How an application gets a token (RFC 8414)',
    response: metadata,
    access: 'open',
  }),
  register: route({
    method: 'POST',
    path: '/oauth/register',
    summary: 'Registers an application (RFC 7591)',
    body: clientRegistration,
    bodyBytes: 16 * 1024,
    response: metadata,
    status: 201,
    access: 'open',
  }),
  authorize: route({
    method: 'GET',
    path: '/oauth/authorize',
    summary: 'The page on which the user allows an application',
    response: bytes('text/html; charset=utf-8'),
    access: 'open',
  }),
  script: route({
    method: 'GET',
    path: '/oauth/authorize.js',
    summary: 'The script of that page',
    response: bytes('text/javascript; charset=utf-8'),
    access: 'open',
  }),
  allow: route({
    method: 'POST',
    path: '/oauth/consents',
    summary: 'The user’s decision on that page',
    body: authorizationRequest.extend({
      allow: z.boolean(),
      grant: z.enum(['view', 'operate']),
      sessions: z.enum(['all', 'own']),
    }),
    response: z.object({ redirect: z.string() }),
    access: 'admin',
  }),
  token: route({
    method: 'POST',
    path: '/oauth/token',
    summary: 'Gives a token for a code, or the next one for a refresh token',
    body: bytes('application/x-www-form-urlencoded'),
    response: metadata,
    access: 'open',
  }),
  revoke: route({
    method: 'POST',
    path: '/oauth/revoke',
    summary: 'Revokes a token by itself (RFC 7009)',
    body: bytes('application/x-www-form-urlencoded'),
    response: bytes('application/json'),
    access: 'open',
  }),
};
