import { z } from 'zod';
import { visibleLine } from '../visible-text.js';
import { bytes, nothing, route } from './route.js';

/** The path that MCP clients connect to. */
export const mcpPath = '/mcp';

const messages = z.unknown().describe('One JSON-RPC message, or a list of them.');
const jsonRpc =
  'Use an MCP client: the messages and their order are those of the Model Context Protocol.';

/** The MCP server over streamable HTTP; its messages are those of the Model Context Protocol. */
export const mcpServerRoutes = {
  send: route({
    method: 'POST',
    path: mcpPath,
    summary: 'Receives messages from an MCP client (streamable HTTP)',
    description: jsonRpc,
    body: bytes('application/json', { schema: messages }),
    response: bytes('application/json', { schema: messages, or: ['text/event-stream'] }),
    failures: 'application/json',
    about: 'caller',
    access: 'view',
    // The calls in its messages are recorded themselves.
    unaudited: true,
  }),
  listen: route({
    method: 'GET',
    path: mcpPath,
    summary: 'Streams messages to an MCP client',
    response: bytes('text/event-stream'),
    failures: 'application/json',
    about: 'caller',
  }),
  leave: route({
    method: 'DELETE',
    path: mcpPath,
    summary: 'Ends the connection of an MCP client',
    response: nothing,
    failures: 'application/json',
    about: 'caller',
    access: 'view',
    unaudited: true,
  }),
};

const metadata = z.record(z.string(), z.unknown());
const short = z.string().min(1).max(2_000);

/** An application’s request for access on behalf of the user (RFC 6749, with PKCE). */
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
  client_name: visibleLine(z.string().max(80), 'one line of visible text').optional(),
});

/** What an application sends for an access token: a code, or a refresh token (RFC 6749). */
const tokenRequest = z.object({
  grant_type: z.enum(['authorization_code', 'refresh_token']),
  client_id: short,
  code: short.optional(),
  redirect_uri: short.optional(),
  code_verifier: z.string().optional(),
  refresh_token: short.optional(),
  resource: short.optional(),
});

/** OAuth for MCP clients: this server is resource and authorization server in one. */
export const oauthRoutes = {
  resource: route({
    method: 'GET',
    path: '/.well-known/oauth-protected-resource',
    summary: 'Returns the authorization server of the MCP server (RFC 9728)',
    response: metadata,
    access: 'open',
  }),
  resourceOfMcp: route({
    method: 'GET',
    path: '/.well-known/oauth-protected-resource/mcp',
    summary: 'Returns the authorization server of the MCP server (RFC 9728)',
    response: metadata,
    access: 'open',
  }),
  server: route({
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    summary: 'Returns the metadata with which an application gets a token (RFC 8414)',
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
    summary: 'Shows the page on which the user allows an application',
    ownQuery: authorizationRequest,
    failures: 'text/html',
    response: bytes('text/html; charset=utf-8'),
    access: 'open',
  }),
  script: route({
    method: 'GET',
    path: '/oauth/authorize.js',
    summary: 'Returns the script of the authorization page',
    response: bytes('text/javascript; charset=utf-8'),
    access: 'open',
  }),
  allow: route({
    method: 'POST',
    path: '/oauth/consents',
    summary: 'Submits the user’s decision on the authorization page',
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
    summary: 'Exchanges a code or a refresh token for an access token',
    body: bytes('application/x-www-form-urlencoded', { schema: tokenRequest }),
    response: metadata,
    failures: 'application/json',
    access: 'open',
  }),
  revoke: route({
    method: 'POST',
    path: '/oauth/revoke',
    summary: 'Revokes the token in the request (RFC 7009)',
    body: bytes('application/x-www-form-urlencoded', { schema: z.object({ token: short }) }),
    response: metadata,
    failures: 'application/json',
    access: 'open',
  }),
};
