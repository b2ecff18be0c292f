import { basename } from 'node:path';
import {
  mcpServerName,
  type McpServer,
  type mcpServerChange,
  type McpTransport,
} from '@belay/protocol';
import { z } from 'zod';
import { seesAll, type Caller } from '../access/caller.js';
import { keptSecrets } from '../storage/kept-secrets.js';

const secrets = z.record(z.string(), z.string());

/** How to reach an MCP server, including its secrets. */
export const savedTransport = z.discriminatedUnion('type', [
  z.object({ type: z.literal('http'), url: z.string(), headers: secrets }),
  z.object({
    type: z.literal('stdio'),
    command: z.string(),
    args: z.array(z.string()),
    env: secrets,
    host: z.boolean().default(false),
    image: z.string().nullable().default(null),
    folder: z.string().nullable().default(null),
    hosts: z.array(z.string()).default([]),
    /** Set for a server that is installed as an action, and therefore not in the settings. */
    installed: z
      .object({
        memoryMb: z.number(),
        /** Why it must not be started, such as a secret that is not set. */
        fault: z.string().optional(),
      })
      .optional(),
  }),
]);
export type SavedTransport = z.infer<typeof savedTransport>;

/** An MCP server as it is stored. */
export const mcpConfig = z.object({
  name: mcpServerName,
  transport: savedTransport,
  enabled: z.boolean(),
  tools: z.array(z.string()).nullable(),
});
export type McpConfig = z.infer<typeof mcpConfig>;

/** Applies a change to a configuration. Throws `invalid_input` when a secret is to be kept that was never saved. */
export function changedConfig(
  before: McpConfig,
  { transport, enabled, tools }: z.output<typeof mcpServerChange>,
): McpConfig {
  return {
    name: before.name,
    transport: transport ? withSecrets(transport, before.transport) : before.transport,
    enabled: enabled ?? before.enabled,
    tools: tools === undefined ? before.tools : tools,
  };
}

/** The transport, with unchanged secrets filled in. */
export function withSecrets(wanted: McpTransport, saved: SavedTransport | null): SavedTransport {
  if (wanted.type === 'http') {
    return {
      ...wanted,
      headers: keptSecrets(wanted.headers, saved?.type === 'http' ? saved.headers : undefined),
    };
  }
  return {
    ...wanted,
    env: keptSecrets(wanted.env, saved?.type === 'stdio' ? saved.env : undefined),
  };
}

/** A transport as an API shows it: with the names of its secrets only. */
export function shownTransport(transport: SavedTransport): McpServer['transport'] {
  return transport.type === 'http'
    ? { ...transport, headers: Object.keys(transport.headers) }
    : { ...transport, env: Object.keys(transport.env) };
}

/**
 * A server as a caller sees it. Without the scope admin: without arguments and paths, which may contain secrets, and
 * without its own texts. If the caller sees only some sessions: also without its address or command.
 */
export function shownTo(caller: Caller, server: McpServer): McpServer {
  if (caller.scope === 'admin') return server;
  const { transport } = server;
  const isShown = seesAll(caller);
  const shown: McpServer['transport'] =
    transport.type === 'http'
      ? { type: 'http', url: isShown ? new URL(transport.url).origin : '', headers: [] }
      : {
          type: 'stdio',
          command: isShown ? basename(transport.command) : '',
          args: [],
          env: [],
          host: transport.host,
          image: null,
          folder: null,
          hosts: [],
        };
  const error = server.error === null ? null : 'It is not connected.';
  return { ...server, transport: shown, error };
}

export const secretsOf = (transport: SavedTransport): string[] =>
  Object.values(transport.type === 'http' ? transport.headers : transport.env);
