import { z } from 'zod';
import { isLoopbackHost, loopbackIsOwn } from './host-entry.js';
import { blobId } from './models.js';

/** Part of the names of the server’s tools, which providers limit to 64 characters: therefore short, and without `_`. */
export const mcpServerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,23}$/, 'lowercase letters, digits and -, at most 24');

/** A tool of an MCP server as it was when the session started: the offer to the model never changes during a session. */
export const mcpTool = z.object({
  server: mcpServerName,
  name: z.string().min(1).max(200),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z
    .record(z.string(), z.unknown())
    .describe('JSON Schema, as the server returned it.'),
  installed: z.boolean().optional().describe('Whether its server is installed as an action.'),
});
export type McpTool = z.infer<typeof mcpTool>;

/** The outcome of a call of a tool. */
export const mcpOutput = z.object({
  text: z.string(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  images: z.array(blobId).optional(),
  omittedCharacters: z.int().positive().optional(),
  full: blobId.optional().describe('The whole text, if it was shortened.'),
});
export type McpOutput = z.infer<typeof mcpOutput>;

/** Values of headers and variables are write-only; null keeps the saved value. */
const secrets = z.record(z.string().min(1).max(200), z.string().max(10_000).nullable());

/** Hosts in the form of a session’s `egress`, without sets. */
export const programHosts = z
  .array(
    z
      .string()
      .trim()
      .regex(
        /^(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$/i,
        'a host: name, name:port or *.name',
      )
      .refine((host) => !isLoopbackHost(host), loopbackIsOwn),
  )
  .max(50)
  .default([])
  .describe('Hosts that the program can reach from its container: name, name:port or *.name.');

export const mcpTransport = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('http'),
    url: z.url({ protocol: /^https?$/ }).refine((url) => !/^https?:\/\/[^/]*@/.test(url), {
      message: 'put user names and passwords into a header',
    }),
    headers: secrets.default({}),
  }),
  z.object({
    type: z.literal('stdio'),
    command: z.string().trim().min(1).max(2_000),
    args: z.array(z.string()).default([]),
    env: secrets.default({}),
    host: z
      .boolean()
      .default(false)
      .describe(
        'Whether the program runs directly on the server’s machine with the rights of the server’s user, not in a container.',
      ),
    image: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .nullable()
      .default(null)
      .describe('The image of the container; null for the sandbox image.'),
    folder: z
      .string()
      .max(1_000)
      .startsWith('/', 'the absolute path of a folder')
      .nullable()
      .default(null)
      .describe('The only folder of the server’s machine that the container sees, read-only.'),
    hosts: programHosts,
  }),
]);
export type McpTransport = z.infer<typeof mcpTransport>;

const settings = {
  transport: mcpTransport,
  enabled: z.boolean(),
  tools: z.array(z.string()).nullable().describe('The names of the tools to offer; null for all.'),
};

export const newMcpServer = z.object({
  name: mcpServerName,
  transport: settings.transport,
  enabled: settings.enabled.default(true),
  tools: settings.tools.default(null),
});
export type NewMcpServer = z.input<typeof newMcpServer>;

/** Omitted fields stay as they are. */
export const mcpServerChange = z.object(settings).partial();
export type McpServerChange = z.input<typeof mcpServerChange>;

/** An MCP server with only the names of its secrets. */
export const mcpServer = z.object({
  name: z.string(),
  installed: z
    .boolean()
    .optional()
    .describe('Whether it is installed as an action, where its settings are changed.'),
  transport: z.discriminatedUnion('type', [
    z.object({ type: z.literal('http'), url: z.string(), headers: z.array(z.string()) }),
    z.object({
      type: z.literal('stdio'),
      command: z.string(),
      args: z.array(z.string()),
      env: z.array(z.string()),
      host: z.boolean(),
      image: z.string().nullable(),
      folder: z.string().nullable(),
      hosts: z.array(z.string()),
    }),
  ]),
  enabled: z.boolean(),
  tools: z.array(z.string()).nullable(),
  state: z.enum(['off', 'connecting', 'connected', 'failed']),
  error: z.string().nullable().describe('Why it failed, in one sentence.'),
  offered: z
    .array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        readOnly: z.boolean(),
      }),
    )
    .describe('All tools of the server, whether chosen or not.'),
});
export type McpServer = z.infer<typeof mcpServer>;
